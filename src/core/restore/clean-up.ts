import type { RestoredCluster, RestoreWorld } from './model.ts';
import { act, type RestoreVerdict, wait } from './step.ts';

/** A failed restore leaves only its status behind, and releases the cluster. */
export const cleanUp = (world: RestoreWorld): RestoreVerdict => releaseCluster(world) ?? deleteSeed(world);

const releaseCluster = ({ cluster, intent }: RestoreWorld): RestoreVerdict | undefined =>
  typeof cluster !== 'string' && cluster.holdAskedBy === intent.uid
    ? act({ kind: 'release-cluster' }, 'releasing the cluster')
    : undefined;

function deleteSeed({ seedPod, memory, isPinned, hasSeedVolume = false }: RestoreWorld): RestoreVerdict {
  if (hasSeedVolume || (seedPod !== undefined && seedPod.isTerminating !== true))
    return act({ kind: 'discard-seed', name: memory.seed ?? '' }, 'deleting the seed member');
  if (isStillThere(seedPod)) return wait('waiting for the seed member to be deleted');
  return isPinned ? act({ kind: 'unpin' }, 'removing the finalizer') : { is: 'over' };
}

/** A pod on a lost node is not waited for: it serves no clients, and is deleted with the node. */
const isStillThere = (pod: RestoreWorld['seedPod']): boolean => pod !== undefined && pod.isOverdue !== true;

/** The PVCs of the old members are kept like those of removed members; without a cluster, the restore keeps them. */
export function forgetOld({ retainedClaims, cluster, isPinned }: RestoreWorld): RestoreVerdict {
  if (retainedClaims.length > 0 && typeof cluster !== 'string') return returnClaims(retainedClaims, cluster);
  return isPinned ? act({ kind: 'unpin' }, 'removing the finalizer') : { is: 'over' };
}

const returnClaims = (
  claims: RestoreWorld['retainedClaims'],
  { keepsVolumes = false }: RestoredCluster,
): RestoreVerdict =>
  keepsVolumes
    ? act({ kind: 'keep-old-data', claims }, 'keeping the PVCs of the old members for their grace time')
    : act({ kind: 'discard-old-data', claims }, 'deleting the PVCs of the old members');
