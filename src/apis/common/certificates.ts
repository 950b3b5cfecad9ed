import type { MemberTemplate, SecretFiles } from '../../core/cluster/model/template.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { ManagedCertificates } from '../../core/pki/due.ts';
import { ownSecretsOf } from '../../core/pki/names.ts';
import type { ClientSecret } from './dialect.ts';
import { defaultLifetimeHours } from './member-settings.ts';
import type { Tls } from './tls.ts';

/** Derives the certificate files of members from the TLS settings of a spec. Both APIs share this. */

type Certified = Pick<MemberTemplate, 'peerTLS' | 'clientTLS' | 'acceptsPlainClients'>;

export function certificateFiles(cluster: string, tls: Tls | undefined): Certified {
  if (tls === undefined) return { peerTLS: undefined, clientTLS: undefined };
  const { managed, static: given, acceptPlainClients: acceptsPlainClients } = tls;
  const { peer, client } = managed === undefined ? namedFiles(given?.member ?? {}) : ownFiles(cluster);
  return { peerTLS: peer, clientTLS: client, acceptsPlainClients };
}

interface MemberSecrets {
  readonly peerSecret?: string | undefined;
  readonly serverSecret?: string | undefined;
}

const namedFiles = ({ peerSecret, serverSecret }: MemberSecrets) => ({
  peer: peerSecret ? peerFiles(peerSecret) : undefined,
  client: serverSecret ? serverFiles(serverSecret) : undefined,
});

const peerFiles = (secret: string): SecretFiles => filesIn(secret, '/etc/etcdtls/member/peer-tls', 'peer');
const serverFiles = (secret: string): SecretFiles => filesIn(secret, '/etc/etcdtls/member/server-tls', 'server');

const filesIn = (secret: string, mountPath: string, file: string): SecretFiles => ({
  secret,
  mountPath,
  certificate: `${file}.crt`,
  key: `${file}.key`,
  authority: `${file}-ca.crt`,
});

export function ownFiles(cluster: string): NonNullable<Blueprint['certificateFiles']> {
  const { members } = ownSecretsOf(cluster);
  return { peer: peerFiles(members), client: serverFiles(members) };
}

export function managedOf(tls: Tls | undefined): ManagedCertificates | undefined {
  if (tls?.managed === undefined) return undefined;
  const { certificateLifetimeHours, rotate } = tls.managed;
  return { lifetimeHours: certificateLifetimeHours ?? defaultLifetimeHours, rotate };
}

export function operatorSecretOf(tls: Tls | undefined): ClientSecret | undefined {
  const name = tls?.static?.operatorSecret;
  if (!name) return undefined;
  return { name, certificate: 'etcd-client.crt', key: 'etcd-client.key', authority: 'etcd-client-ca.crt' };
}
