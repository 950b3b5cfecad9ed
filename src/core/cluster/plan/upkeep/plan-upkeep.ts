import type { ClusterWorld } from '../../model/cluster.ts';
import { needsAdoption } from '../bootstrap/adopt.ts';
import { keepServing } from './client-service.ts';
import { keepLabels, restoreHidden } from './labels.ts';
import { keepPeers } from './peers.ts';
import { keepPvcOwners, releasePvcs } from './pvc-owners.ts';
import { growPvcs } from './pvc-sizes.ts';
import { keepBudget, keepServices } from './services-and-pdb.ts';
import type { UpkeepStep } from './step.ts';
import type { UpkeepRule, UpkeepWorld } from './world.ts';

/** All rules apply, in this order: a write of one does not depend on a write of another. */
const rules: readonly UpkeepRule[] = [
  // Creates and corrects the Services for peers and clients.
  keepServices,
  // Creates, corrects or deletes the PodDisruptionBudget.
  keepBudget,
  // Creates, corrects and deletes EtcdPeers, in an API that has them.
  keepPeers,
  // Sets the owners of PVCs, and records the cluster on them.
  keepPvcOwners,
  // Restores the labels of pods and PVCs that no cache shows.
  restoreHidden,
  // Restores lost labels of pods and PVCs.
  keepLabels,
  // Labels the members that the client Service leads to.
  keepServing,
  // Raises the storage request of PVCs that are too small.
  growPvcs,
];

/** Plans the writes to the objects around members. */
export function planUpkeep(world: UpkeepWorld): readonly UpkeepStep[] {
  const scope = upkeepScope(world);
  if (scope === 'all') return rules.flatMap((rule) => rule(world));
  return scope === 'release' ? releasePvcs(world) : restoreHidden(world);
}

/**
 * `release`: the cluster is paused, and PVCs that are to outlive it lose their owner. `none`: another operator created
 * the cluster, and its member list is unknown, so its objects are not changed yet, apart from lost labels.
 */
export function upkeepScope(world: ClusterWorld): 'all' | 'release' | 'none' {
  if (world.intent.paused) return 'release';
  const isAdoptionUnconfirmed =
    world.missingPermission !== undefined || (!world.membership.seen && needsAdoption(world));
  return isAdoptionUnconfirmed ? 'none' : 'all';
}
