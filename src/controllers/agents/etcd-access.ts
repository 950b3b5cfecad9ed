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
export function accessTo({ blueprint, memory, operatorSecret, operatorCredentials }: ReadCluster): EtcdAccess {
  const { intent, naming, template } = blueprint;
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const suffix = `${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return {
    endpoints: memory.voters.map((member) => `${scheme}://${member}.${suffix}`),
    tlsSecret: operatorSecret?.name,
    userSecret: operatorCredentials,
  };
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
