import type { Blueprint } from '../desired/manifest.ts';
import type { Holder } from './bundle.ts';

/** The Secrets that we keep for a cluster. `members`: what they mount. `issued`: authorities with their keys. `clients`: for users. */
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
 * The names in the certificates that we issue. Members are covered before they exist, by asterisks. The plain name of the
 * peers' service leads to all members: by it etcd finds that a peer's address is one of theirs, whatever the domain.
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
