import type { Blueprint } from '../desired/manifest.ts';
import type { ClusterStatus, Condition } from './cluster-status.ts';

/** Nothing is wrong with a cluster without TLS, so it is not degraded; but its users should know. */
export function plaintextIn({ template, acceptsPlaintext, naming }: Blueprint): readonly Condition[] {
  const open = [
    ...(template.clientTLS === undefined ? ['with clients'] : []),
    ...(template.peerTLS === undefined ? ['between members'] : []),
  ];
  if (open.length === 0 || acceptsPlaintext === true) return [];
  const message =
    `traffic ${open.join(' and ')} is neither encrypted nor authenticated: whatever reaches the pods can read and change all data; ` +
    `configure TLS, or limit access by NetworkPolicies and set the annotation ${plaintextAnnotation(naming.prefix)}: "true"`;
  return [{ type: 'Secured', status: 'False', reason: 'NoTLS', message }];
}

/** By it a user says that a cluster is to be without TLS. */
export const plaintextAnnotation = (prefix: string): string => `${prefix}/allow-plaintext`;

export const withPlaintext = (status: ClusterStatus, blueprint: Blueprint): ClusterStatus => ({
  ...status,
  conditions: [...status.conditions, ...plaintextIn(blueprint)],
});
