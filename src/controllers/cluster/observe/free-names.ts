import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { type ClusterWorld, hasHistory } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { freeOrdinals, ordinalOf } from '../../../core/cluster/model/ordinals.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { keyOf } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../std/owner.ts';
import type { ControllerContext } from '../../shared/context.ts';

/** The size of the largest cluster, which may have to be bootstrapped. */
const maxSize = 9;

/**
 * Returns unused member names. The name of a PVC that is being deleted is still used: on a lost node the deletion may
 * never finish.
 */
export function spareNames(
  { blueprint, memory }: Pick<ReadCluster, 'blueprint' | 'memory'>,
  taken: readonly string[],
  context: Pick<ControllerContext, 'randomName' | 'peers'>,
): Pick<ClusterWorld, 'spareNames' | 'foreignPeers'> {
  const { name, memberNames } = blueprint.intent;
  if (memberNames === 'random')
    return { spareNames: Array.from({ length: maxSize }, () => context.randomName(name) as MemberName) };
  const isForeign = (peer: MemberName): boolean => hasHistory(memory) && isForeignPeer(peer, blueprint, context);
  return freeNames(name, [...taken, ...memory.voters], isForeign);
}

/**
 * A running cluster skips the numbers of foreign EtcdPeers. Bootstrap members have fixed numbers, and report foreign
 * EtcdPeers.
 */
function freeNames(
  cluster: string,
  taken: readonly string[],
  isForeign: (name: MemberName) => boolean,
): Pick<ClusterWorld, 'spareNames' | 'foreignPeers'> {
  const names = freeOrdinals(cluster, new Set(taken), maxSize);
  const foreign = names.filter(isForeign);
  if (foreign.length === 0) return { spareNames: names, foreignPeers: [] };
  const { spareNames: free } = freeNames(cluster, [...taken, ...foreign], isForeign);
  const isNext = (name: MemberName): boolean => ordinalOf(name) < ordinalOf(free[0] ?? name);
  return { spareNames: free, foreignPeers: foreign.filter(isNext) };
}

function isForeignPeer(name: MemberName, { intent }: Blueprint, { peers }: Pick<ControllerContext, 'peers'>): boolean {
  const peer = peers?.store.get(keyOf({ namespace: intent.namespace, name }));
  return peer !== undefined && !isOwnedBy(peer, intent.uid);
}
