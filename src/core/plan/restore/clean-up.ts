import type { RestoredCluster, RestoreWorld, Seed } from '../../model/restore.ts';
import { act, type RestoreVerdict, wait } from './step.ts';

/** What failed leaves nothing behind but its status, and keeps nobody from anything. */
export const cleanUp = (world: RestoreWorld): RestoreVerdict => letGo(world) ?? tidyUp(world);

const letGo = ({ cluster, intent }: RestoreWorld): RestoreVerdict | undefined =>
  typeof cluster !== 'string' && cluster.holdAskedBy === intent.uid
    ? act({ kind: 'release-cluster' }, 'the operator may go on')
    : undefined;

function tidyUp({ cluster, memory, isPinned, hasSeedVolume = false }: RestoreWorld): RestoreVerdict {
  const left = leftIn(cluster);
  if (hasSeedVolume || (left !== undefined && left.isGoing !== true))
    return act({ kind: 'discard-seed', name: memory.seed ?? '' }, 'removing what was made');
  if (left !== undefined) return wait('waiting until what was made is gone');
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}

/** A seed that has not become the cluster's. */
const leftIn = (cluster: RestoredCluster | string): Seed | undefined =>
  typeof cluster === 'string' || cluster.seed?.isHandedOver === true ? undefined : cluster.seed;

/** What is kept of the old members goes with the restore. */
export function forgetOld({ aside, isPinned }: RestoreWorld): RestoreVerdict {
  if (aside.length > 0) return act({ kind: 'discard-old-data', claims: aside }, 'removing the data of the old members');
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}
