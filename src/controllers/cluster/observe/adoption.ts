import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { type ClusterWorld, isOurs, type LegacyReplicaSet } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import { replicaSets } from '../../../kube/resource.ts';
import { unless } from '../../../std/failure.ts';
import { isOwnedBy } from '../../../std/owner.ts';
import { type ClusterObject, type ControllerContext, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { memberNameOf } from './members.ts';

/**
 * The pods of a cluster: the pods that it owns. Until the cluster is adopted, also the pods that the ReplicaSets of the
 * original operator made for its EtcdPeers.
 */
export function podsOf({ blueprint, memory }: ReadCluster, context: ControllerContext): readonly Stored<Pod>[] {
  const { pods } = context.caches;
  const owned = pods.by(ownerIndex, blueprint.intent.namespace, blueprint.intent.uid);
  if (isOurs(memory)) return owned;
  const peers = peersOf(blueprint, context);
  if (peers.length === 0) return owned;
  const named = new Set(peers.map(({ metadata }) => metadata.name));
  const others = pods
    .by(clusterIndex, blueprint.intent.namespace, blueprint.intent.name)
    .filter((pod) => named.has(memberNameOf(pod)) && isMadeForPeer(pod, blueprint));
  return [...owned, ...bestOfEach(others)];
}

const peersOf = ({ intent }: Blueprint, { peers }: ControllerContext): readonly Stored<ClusterObject>[] =>
  peers?.store.by(ownerIndex, intent.namespace, intent.uid) ?? [];

/** True if the pod belongs to a ReplicaSet with the peer's name, or was released by one. */
function isMadeForPeer(pod: Stored<Pod>, { naming }: Blueprint): boolean {
  const owners = pod.metadata.ownerReferences ?? [];
  const isReleased = owners.length === 0 && pod.spec?.subdomain === naming.peerService;
  return isReleased || owners.some(({ kind, name }) => kind === 'ReplicaSet' && name === memberNameOf(pod));
}

/** An evicted pod still exists beside its replacement, so the better pod of each member is taken. */
function bestOfEach(pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  const worth = ({ metadata, status }: Stored<Pod>): number =>
    (status?.phase === 'Running' ? 2 : 0) + (metadata.deletionTimestamp === undefined ? 1 : 0);
  const ofEach = [...Map.groupBy(pods, memberNameOf).values()];
  return ofEach.flatMap((same) => same.toSorted((a, b) => worth(b) - worth(a)).slice(0, 1));
}

const missingReplicaSetRights =
  'the operator may not read the ReplicaSets of the original operator, which may still create pods of this cluster: ' +
  'grant it the rights to get and delete replicasets of the group apps';

/**
 * Reads the ReplicaSets of the original operator's EtcdPeers by name. An adopted cluster has none, so ReplicaSets are
 * not watched.
 */
export async function replicaSetsOf(
  { blueprint, memory }: ReadCluster,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pick<ClusterWorld, 'legacyReplicaSets' | 'missingPermission'>> {
  if (isOurs(memory) || context.dialect.hadReplicaSets !== true) return {};
  const asked = peersOf(blueprint, context).map((peer) => replicaSetOf(peer, context, signal));
  const found = await unless('forbidden', Promise.all(asked), undefined);
  return found === undefined ? { missingPermission: missingReplicaSetRights } : { legacyReplicaSets: found.flat() };
}

async function replicaSetOf(
  { metadata: { namespace, name, uid: peer } }: Stored<ClusterObject>,
  { client }: ControllerContext,
  signal: AbortSignal,
): Promise<readonly LegacyReplicaSet[]> {
  const found = await unless('not-found', client.get(replicaSets, { namespace, name }, { signal }), undefined);
  if (found === undefined || !isOwnedBy(found, peer)) return [];
  const { uid, deletionTimestamp } = found.metadata;
  return [{ name: name as MemberName, uid, isLeaving: deletionTimestamp !== undefined }];
}
