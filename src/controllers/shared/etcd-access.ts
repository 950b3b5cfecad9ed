import type { ReadCluster } from '../../apis/common/dialect.ts';
import { ports } from '../../core/cluster/model/template.ts';
import { type AgentMount, agentPaths } from '../../core/manifests/agent-pod.ts';
import { ownSecretsOf } from '../../core/pki/names.ts';

/** The endpoints and Secrets with which an agent connects to etcd. */
export interface EtcdAccess {
  readonly endpoints: readonly string[];
  readonly tlsSecret?: string | undefined;
  readonly userSecret?: string | undefined;
}

/** Names every voter: the agent takes the member with the highest revision and skips unreachable members. */
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

/** The Secret that the spec names, or the client Secret of the operator if the operator issues certificates. */
function tlsSecretOf({ blueprint, operatorSecret, managedCertificates }: ReadCluster): string | undefined {
  return managedCertificates === undefined ? operatorSecret?.name : ownSecretsOf(blueprint.intent.name).clients;
}

export const etcdArguments = ({ endpoints, tlsSecret, userSecret }: EtcdAccess): readonly string[] => [
  '--endpoints',
  endpoints.join(','),
  ...(tlsSecret === undefined ? [] : ['--etcd-tls', agentPaths.etcdTls]),
  ...(userSecret === undefined ? [] : ['--etcd-user', agentPaths.etcdUser]),
];

export const etcdMounts = ({ tlsSecret, userSecret }: EtcdAccess): readonly AgentMount[] => [
  ...(tlsSecret === undefined ? [] : [{ path: agentPaths.etcdTls, secret: tlsSecret }]),
  ...(userSecret === undefined ? [] : [{ path: agentPaths.etcdUser, secret: userSecret }]),
];
