import type { Blueprint } from '../../core/desired/manifest.ts';
import { type ClusterWorld, isOurs, type Keeper } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { replicaSets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isOwnedBy, nameOfBody } from './carriers.ts';
import { type ClusterObject, clusterIndex, ownerIndex, type Tools } from './sources.ts';

/**
 * The pods of a cluster: those it owns, and as long as nothing is written down of it, those that an original operator has
 * had made for its peers by others.
 */
export function podsOf({ blueprint, memory }: ReadCluster, tools: Tools): readonly Stored<Pod>[] {
  const { pods } = tools.caches;
  const owned = pods.by(ownerIndex, blueprint.intent.namespace, blueprint.intent.uid);
  if (isOurs(memory)) return owned;
  const peers = peersOf(blueprint, tools);
  if (peers.length === 0) return owned;
  const named = new Set(peers.map(({ metadata }) => metadata.name));
  const others = pods
    .by(clusterIndex, blueprint.intent.namespace, blueprint.intent.name)
    .filter((pod) => named.has(nameOfBody(pod)) && isMadeForPeer(pod, blueprint));
  return [...owned, ...bestOfEach(others)];
}

const peersOf = ({ intent }: Blueprint, { peers }: Tools): readonly Stored<ClusterObject>[] =>
  peers?.store.by(ownerIndex, intent.namespace, intent.uid) ?? [];

/** By a ReplicaSet of the peer's name, or by one that has let go of it since. */
function isMadeForPeer(pod: Stored<Pod>, { naming }: Blueprint): boolean {
  const owners = pod.metadata.ownerReferences ?? [];
  const isReleased = owners.length === 0 && pod.spec?.subdomain === naming.peerService;
  return isReleased || owners.some(({ kind, name }) => kind === 'ReplicaSet' && name === nameOfBody(pod));
}

/** What was evicted is still there beside what was made in its place. */
function bestOfEach(pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  const worth = ({ metadata, status }: Stored<Pod>): number =>
    (status?.phase === 'Running' ? 2 : 0) + (metadata.deletionTimestamp === undefined ? 1 : 0);
  const ofEach = [...Map.groupBy(pods, nameOfBody).values()];
  return ofEach.flatMap((same) => same.toSorted((a, b) => worth(b) - worth(a)).slice(0, 1));
}

const mayNotLook =
  'the operator may not see whether ReplicaSets of the original still make the pods of this cluster: ' +
  'grant it the rights to get and delete replicasets of the group apps';

/**
 * The ReplicaSets of an original's peers, asked for by name: there are none where a cluster is ours, and nobody should
 * have to watch all of them for the few that are not.
 */
export async function keepersOf(
  { blueprint, memory }: ReadCluster,
  tools: Tools,
  signal: AbortSignal,
): Promise<Pick<ClusterWorld, 'keepers' | 'outOfSight'>> {
  if (isOurs(memory) || tools.dialect.hadReplicaSets !== true) return {};
  const asked = peersOf(blueprint, tools).map((peer) => keeperOf(peer, tools, signal));
  const found = await unless('forbidden', Promise.all(asked), undefined);
  return found === undefined ? { outOfSight: mayNotLook } : { keepers: found.flat() };
}

async function keeperOf(
  { metadata: { namespace, name, uid: peer } }: Stored<ClusterObject>,
  { client }: Tools,
  signal: AbortSignal,
): Promise<readonly Keeper[]> {
  const found = await unless('not-found', client.get(replicaSets, { namespace, name }, { signal }), undefined);
  if (found === undefined || !isOwnedBy(found.metadata, peer)) return [];
  const { uid, deletionTimestamp } = found.metadata;
  return [{ name: name as CarrierName, uid, isLeaving: deletionTimestamp !== undefined }];
}
