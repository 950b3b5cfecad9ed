import type { Blueprint } from '../manifests/manifest.ts';
import type { Holder } from './bundle.ts';

/**
 * Secrets of a cluster. `members`: mounted in member pods. `issued`: CAs with their keys. `clients`: for clients to
 * use.
 */
export interface OwnSecrets {
  readonly members: string;
  readonly issued: string;
  readonly clients: string;
}

export const ownSecretsOf = (cluster: string): OwnSecrets => ({
  members: `${cluster}-member-tls`,
  issued: `${cluster}-issued-tls`,
  clients: `${cluster}-client-tls`,
});

const usualDomain = '.cluster.local';

/**
 * The DNS names in issued certificates. Wildcards cover members that do not exist yet. The name of the peer Service
 * resolves to all members. With it etcd can verify the address of a peer under any cluster domain.
 */
export function namesFor({ intent, naming }: Blueprint): Readonly<Record<Holder, readonly string[]>> {
  const inNamespace = (service: string): string => `${service}.${intent.namespace}.svc`;
  const withDomain = (name: string): readonly string[] => [name, `${name}${naming.domain || usualDomain}`];
  const peers = inNamespace(naming.peerService);
  const clients = inNamespace(naming.clientService);
  const members = withDomain(`*.${peers}`);
  return {
    peer: [...members, peers],
    server: [
      ...members,
      ...withDomain(clients),
      naming.clientService,
      `${naming.clientService}.${intent.namespace}`,
      'localhost',
    ],
    operator: [],
  };
}
