import { ownSecretsOf } from '../../core/certificates/names.ts';
import { type AgentMount, agentPaths } from '../../core/desired/agent-pod.ts';
import { ports } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';

/** How an agent enters etcd. */
export interface EtcdAccess {
  readonly endpoints: readonly string[];
  readonly tlsSecret?: string | undefined;
  readonly userSecret?: string | undefined;
}

/** Every member is named: an agent takes the one that has seen most, and does not mind dead ones. */
export function accessTo(cluster: ReadCluster): EtcdAccess {
  const { blueprint, memory, operatorCredentials } = cluster;
  const { intent, naming, template } = blueprint;
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const suffix = `${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return {
    endpoints: memory.voters.map((member) => `${scheme}://${member}.${suffix}`),
    tlsSecret: tlsSecretOf(cluster),
    userSecret: operatorCredentials,
  };
}

/** The one that the spec names, or, where certificates are ours, what we give to clients. */
function tlsSecretOf({ blueprint, operatorSecret, managedCertificates }: ReadCluster): string | undefined {
  return managedCertificates === undefined ? operatorSecret?.name : ownSecretsOf(blueprint.intent.name).clients;
}

export const etcdWords = ({ endpoints, tlsSecret, userSecret }: EtcdAccess): readonly string[] => [
  '--endpoints',
  endpoints.join(','),
  ...(tlsSecret === undefined ? [] : ['--etcd-tls', agentPaths.etcdTls]),
  ...(userSecret === undefined ? [] : ['--etcd-user', agentPaths.etcdUser]),
];

export const etcdMounts = ({ tlsSecret, userSecret }: EtcdAccess): readonly AgentMount[] => [
  ...(tlsSecret === undefined ? [] : [{ path: agentPaths.etcdTls, secret: tlsSecret }]),
  ...(userSecret === undefined ? [] : [{ path: agentPaths.etcdUser, secret: userSecret }]),
];
