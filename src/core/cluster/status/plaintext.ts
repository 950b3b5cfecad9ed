import type { Blueprint } from '../../manifests/manifest.ts';
import type { ClusterCondition, ClusterStatus } from './cluster-status.ts';

/** Reports a cluster without TLS in a condition of its own, because the cluster is not degraded. */
export function plaintextIn({ template, acceptsPlaintext, naming }: Blueprint): readonly ClusterCondition[] {
  const open = [
    ...(template.clientTLS === undefined ? ['with clients'] : []),
    ...(template.peerTLS === undefined ? ['between members'] : []),
  ];
  if (open.length === 0 || acceptsPlaintext === true) return [];
  const message =
    `traffic ${open.join(' and ')} is neither encrypted nor authenticated: any client with network access to the pods can read and change all data; ` +
    `configure TLS, or limit access by NetworkPolicies and set the annotation ${plaintextAnnotation(naming.prefix)}: "true"`;
  return [{ type: 'Secured', status: 'False', reason: 'NoTLS', message }];
}

/** With this annotation a user accepts a cluster without TLS. */
export const plaintextAnnotation = (prefix: string): string => `${prefix}/allow-plaintext`;

export const withPlaintext = (status: ClusterStatus, blueprint: Blueprint): ClusterStatus => ({
  ...status,
  conditions: [...status.conditions, ...plaintextIn(blueprint)],
});
