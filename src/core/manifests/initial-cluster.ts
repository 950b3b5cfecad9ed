import type { ClusterIntent } from '../cluster/model/intent.ts';
import type { MemberName } from '../cluster/model/names.ts';
import type { Naming } from '../cluster/model/template.ts';
import type { Join } from '../cluster/plan/step.ts';

/**
 * The --initial-cluster settings, which etcd uses only with an empty volume. They are annotations of the pod and reach
 * etcd's command line through the environment. The kubelet reads the annotations at every start of the container, so
 * the operator can change them after the cluster has formed.
 */
export interface InitialCluster {
  readonly peers: string;
  readonly state: 'new' | 'existing';
  readonly token: string;
}

export function initialClusterOf(join: Join, name: MemberName, intent: ClusterIntent): InitialCluster {
  switch (join.as) {
    case 'bootstrap':
      return {
        peers: join.of.members.map((member) => `${member}=${intent.peerURLOf(member)}`).join(','),
        state: 'new',
        token: join.of.token,
      };
    case 'joining':
      return {
        peers: join.among.map((peer) => `${peer.name}=${peer.peerURL}`).join(','),
        state: 'existing',
        token: tokenOf(intent),
      };
    case 'restarting':
      return bootstrapForbidden(name, intent);
    default:
      return join satisfies never;
  }
}

/**
 * An initial cluster without the member's own name. With data on its volume etcd ignores it; without data etcd refuses
 * to start. This holds for all versions from 3.1 to 3.7.
 */
export const bootstrapForbidden = (name: MemberName, intent: ClusterIntent): InitialCluster => ({
  peers: `${name}-has-lost-its-data=${intent.peerURLOf(name)}`,
  state: 'existing',
  token: tokenOf(intent),
});

const tokenOf = ({ namespace, name, uid }: ClusterIntent): string => `${namespace}.${name}.${uid}`;

export const annotationsOf = (initial: InitialCluster, { prefix }: Naming): Readonly<Record<string, string>> => ({
  [`${prefix}/initial-cluster`]: initial.peers,
  [`${prefix}/initial-cluster-state`]: initial.state,
  [`${prefix}/initial-cluster-token`]: initial.token,
});

/** True if the annotations of a pod forbid re-bootstrap. */
export const isBootstrapForbidden = (annotations: Readonly<Record<string, string>>, { prefix }: Naming): boolean =>
  (annotations[`${prefix}/initial-cluster`] ?? '').includes('-has-lost-its-data=');

/** The environment variables with the values of the annotations. */
export const initialClusterEnvironment = ({ prefix }: Naming): readonly Readonly<Record<string, unknown>>[] =>
  Object.entries({
    INITIAL_CLUSTER: 'initial-cluster',
    INITIAL_CLUSTER_STATE: 'initial-cluster-state',
    INITIAL_CLUSTER_TOKEN: 'initial-cluster-token',
  }).map(([name, annotation]) => ({
    name,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${prefix}/${annotation}']` } },
  }));
