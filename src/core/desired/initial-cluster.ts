import type { ClusterIntent } from '../model/intent.ts';
import type { CarrierName } from '../model/names.ts';
import type { Naming } from '../model/template.ts';
import type { Join } from '../plan/cluster/step.ts';

/**
 * What etcd is told when its disk is empty. It stands in annotations of the pod and reaches etcd's command line through the
 * environment, which the kubelet reads anew at every start of the container. So it can still be changed when the
 * cluster has formed.
 */
export interface InitialCluster {
  readonly peers: string;
  readonly state: 'new' | 'existing';
  readonly token: string;
}

export function initialClusterOf(join: Join, name: CarrierName, intent: ClusterIntent): InitialCluster {
  switch (join.as) {
    case 'founder':
      return {
        peers: join.of.members.map((member) => `${member}=${intent.peerURLOf(member)}`).join(','),
        state: 'new',
        token: join.of.token,
      };
    case 'newcomer':
      return {
        peers: join.among.map((peer) => `${peer.name}=${peer.peerURL}`).join(','),
        state: 'existing',
        token: tokenOf(intent),
      };
    case 'returner':
      return sealed(name, intent);
    default:
      return join satisfies never;
  }
}

/**
 * A list without the member's own name: with data on its disk etcd does not look at it, and without it refuses to start.
 * That is so in every version from 3.1 to 3.7.
 */
export const sealed = (name: CarrierName, intent: ClusterIntent): InitialCluster => ({
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

/** Reads back from a pod's annotations whether it has been sealed. */
export const isSealed = (annotations: Readonly<Record<string, string>>, { prefix }: Naming): boolean =>
  (annotations[`${prefix}/initial-cluster`] ?? '').includes('-has-lost-its-data=');

/** The variables that carry the annotations into the container, and the flags that use them. */
export const initialClusterEnvironment = ({ prefix }: Naming): readonly Readonly<Record<string, unknown>>[] =>
  Object.entries({
    INITIAL_CLUSTER: 'initial-cluster',
    INITIAL_CLUSTER_STATE: 'initial-cluster-state',
    INITIAL_CLUSTER_TOKEN: 'initial-cluster-token',
  }).map(([name, annotation]) => ({
    name,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${prefix}/${annotation}']` } },
  }));
