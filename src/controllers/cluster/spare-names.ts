import type { Blueprint } from '../../core/desired/manifest.ts';
import { type ClusterWorld, hasHistory } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { freeOrdinals, ordinalOf } from '../../core/model/ordinals.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import { keyOf } from '../../kube/object.ts';
import { isOwnedBy } from './carriers.ts';
import type { Tools } from './sources.ts';

/** Enough for the largest cluster, in case it has to be founded. */
const enough = 9;

/**
 * Names that nobody has. Who is on the way out has one still: a volume that is being deleted is not waited for, since on a
 * node that is lost it may take for ever.
 */
export function spareNames(
  { blueprint, memory }: Pick<ReadCluster, 'blueprint' | 'memory'>,
  taken: readonly string[],
  tools: Pick<Tools, 'randomName' | 'peers'>,
): Pick<ClusterWorld, 'spareNames' | 'strangePeers'> {
  const { name, memberNames } = blueprint.intent;
  if (memberNames === 'random')
    return { spareNames: Array.from({ length: enough }, () => tools.randomName(name) as CarrierName) };
  const isStrange = (peer: CarrierName): boolean => hasHistory(memory) && isStrangePeer(peer, blueprint, tools);
  return freeNames(name, [...taken, ...memory.voters], isStrange);
}

/** Founders have their numbers, and say who is in the way of their peers; a cluster that runs passes such numbers over. */
function freeNames(
  cluster: string,
  taken: readonly string[],
  isStrange: (name: CarrierName) => boolean,
): Pick<ClusterWorld, 'spareNames' | 'strangePeers'> {
  const names = freeOrdinals(cluster, new Set(taken), enough);
  const strange = names.filter(isStrange);
  if (strange.length === 0) return { spareNames: names, strangePeers: [] };
  const { spareNames: free } = freeNames(cluster, [...taken, ...strange], isStrange);
  const isNext = (name: CarrierName): boolean => ordinalOf(name) < ordinalOf(free[0] ?? name);
  return { spareNames: free, strangePeers: strange.filter(isNext) };
}

function isStrangePeer(name: CarrierName, { intent }: Blueprint, { peers }: Pick<Tools, 'peers'>): boolean {
  const there = peers?.store.get(keyOf({ namespace: intent.namespace, name }));
  return there !== undefined && !isOwnedBy(there.metadata, intent.uid);
}
