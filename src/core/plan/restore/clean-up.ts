import type { RestoredCluster, RestoreWorld } from '../../model/restore.ts';
import { act, type RestoreVerdict, wait } from './step.ts';

/** What failed leaves nothing behind but its status, and keeps nobody from anything. */
export const cleanUp = (world: RestoreWorld): RestoreVerdict => letGo(world) ?? tidyUp(world);

const letGo = ({ cluster, intent }: RestoreWorld): RestoreVerdict | undefined =>
  typeof cluster !== 'string' && cluster.holdAskedBy === intent.uid
    ? act({ kind: 'release-cluster' }, 'the operator may go on')
    : undefined;

function tidyUp({ seedPod, memory, isPinned, hasSeedVolume = false }: RestoreWorld): RestoreVerdict {
  if (hasSeedVolume || (seedPod !== undefined && seedPod.isGoing !== true))
    return act({ kind: 'discard-seed', name: memory.seed ?? '' }, 'removing what was made');
  if (isStillGoing(seedPod)) return wait('waiting until what was made is gone');
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}

/** One that its node does not let go of goes with that, and serves nobody meanwhile. */
const isStillGoing = (pod: RestoreWorld['seedPod']): boolean => pod !== undefined && pod.isOverdue !== true;

/** Volumes of the old members are kept like those of any removed member; where there is no cluster to keep them, by the restore. */
export function forgetOld({ aside, cluster, isPinned }: RestoreWorld): RestoreVerdict {
  if (aside.length > 0 && typeof cluster !== 'string') return handBack(aside, cluster);
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}

const handBack = (claims: RestoreWorld['aside'], { keepsVolumes = false }: RestoredCluster): RestoreVerdict =>
  keepsVolumes
    ? act({ kind: 'keep-old-data', claims }, 'keeping the data of the old members for its grace time')
    : act({ kind: 'discard-old-data', claims }, 'removing the data of the old members');
