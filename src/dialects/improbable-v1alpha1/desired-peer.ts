import type { Manifest } from '../../core/desired/manifest.ts';
import type { Body } from '../../core/desired/pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Join } from '../../core/plan/cluster/step.ts';
import { group, hostOf, version } from './names.ts';
import type { EtcdPeerSpec } from './peer-spec.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import type { EtcdClusterResource } from './read.ts';

type Bootstrap = NonNullable<EtcdPeerSpec['bootstrap']>;

/** The EtcdPeer that stands for a member, as it is made when the member's body first starts. `voters`: as they are remembered. */
export function desiredPeer(cluster: EtcdClusterResource, body: Body, voters: readonly CarrierName[]): Manifest {
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
    case 'founder':
      return listing('New', join.of.members, cluster);
    case 'newcomer':
      return listing('Existing', namesOf(join.among), cluster);
    case 'returner': // its data says who the others are; the list is only for people
      return listing('Existing', known, cluster);
    default:
      return join satisfies never;
  }
}

const namesOf = (those: readonly { readonly name: string }[]): readonly string[] => those.map(({ name }) => name);

function listing(
  initialClusterState: Bootstrap['initialClusterState'],
  names: readonly string[],
  { metadata }: EtcdClusterResource,
): Bootstrap {
  const initialCluster = names.map((name) => ({ name, host: hostOf(name, metadata.name, metadata.namespace) }));
  return { initialClusterState, static: { initialCluster } };
}
