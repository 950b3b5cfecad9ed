import { alarmsIn } from '../../model/alarms.ts';
import type { KnownWorld } from '../../model/cluster.ts';
import { isOver } from '../../model/removed-volumes.ts';
import { wantedSize } from '../roll/outdated.ts';
import { act, type MemberStep, type Rule } from '../step.ts';

/**
 * Deletes PVCs of removed members after their grace time, if no pod mounts them. The cluster must be complete and
 * healthy, without alarms: otherwise these PVCs may be needed for a repair.
 */
export const deleteRemovedVolumes: Rule<KnownWorld> = (world) => {
  const { keptVolumes = [], now, intent } = world;
  if (!isWell(world)) return undefined;
  const due = keptVolumes.filter((volume) => !volume.isMounted && !volume.isLeaving && isOver(volume, now, intent));
  if (due.length === 0) return undefined;
  const steps = due.map(({ claim, uid, member }): MemberStep => ({ kind: 'delete-volume', claim, uid, member }));
  const claims = due.map(({ claim }) => claim).join(', ');
  return act('VolumeDeleted', `deleting PersistentVolumeClaim ${claims} of removed members`, ...steps);
};

function isWell(world: KnownWorld): boolean {
  const { members } = world.membership.value;
  const isWhole = members.length >= wantedSize(world) && members.every(({ health }) => health === 'healthy');
  return isWhole && alarmsIn(world).length === 0;
}
