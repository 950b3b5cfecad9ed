import type { MemberName } from '../../core/cluster/model/names.ts';
import type { Join } from '../../core/cluster/plan/step.ts';
import type { Manifest } from '../../core/manifests/manifest.ts';
import type { MemberPodInput } from '../../core/manifests/pod.ts';
import { group, hostOf, version } from './names.ts';
import type { EtcdPeerSpec } from './peer-spec.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import type { EtcdClusterResource } from './read.ts';

type Bootstrap = NonNullable<EtcdPeerSpec['bootstrap']>;

/** The EtcdPeer of a member, as created with its first pod. `voters`: the last known voters. */
export function desiredPeer(
  cluster: EtcdClusterResource,
  body: MemberPodInput,
  voters: readonly MemberName[],
): Manifest {
  const { name, join, version: runs } = body;
  const { metadata, spec } = cluster;
  const { storage, podTemplate } = spec;
  const owner = { apiVersion: `${group}/${version}`, kind: 'EtcdCluster', name: metadata.name, uid: metadata.uid };
  return {
    apiVersion: `${group}/${version}`,
    kind: 'EtcdPeer',
    metadata: {
      name,
      namespace: metadata.namespace,
      labels: { [nameLabel]: 'etcd', [clusterLabel]: metadata.name },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: {
      clusterName: metadata.name,
      version: runs,
      bootstrap: bootstrapOf(join, [...new Set([...voters, name])], cluster),
      storage,
      ...(podTemplate === undefined ? {} : { podTemplate }),
    },
  };
}

function bootstrapOf(join: Join, known: readonly string[], cluster: EtcdClusterResource): Bootstrap {
  switch (join.as) {
    case 'bootstrap':
      return bootstrapWith('New', join.of.members, cluster);
    case 'joining':
      return bootstrapWith('Existing', namesOf(join.among), cluster);
    case 'restarting': // informational: etcd reads the member list from its data directory
      return bootstrapWith('Existing', known, cluster);
    default:
      return join satisfies never;
  }
}

const namesOf = (members: readonly { readonly name: string }[]): readonly string[] => members.map(({ name }) => name);

function bootstrapWith(
  initialClusterState: Bootstrap['initialClusterState'],
  names: readonly string[],
  { metadata }: EtcdClusterResource,
): Bootstrap {
  const initialCluster = names.map((name) => ({ name, host: hostOf(name, metadata.name, metadata.namespace) }));
  return { initialClusterState, static: { initialCluster } };
}
