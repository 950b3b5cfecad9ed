import { alarmsIn } from '../../model/alarms.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { isOver } from '../../model/kept-volumes.ts';
import { wantedSize } from './outdated.ts';
import { act, type Rule, type Step } from './step.ts';

/**
 * Volumes of removed members are deleted when their grace time is over and no pod mounts them; and only from a cluster that is
 * whole, raises no alarm and has nothing else to do: as long as it is not, they may be what it has to be repaired with.
 */
export const deleteKeptVolumes: Rule = (world) => {
  const { keptVolumes = [], now, intent } = world;
  if (!isWell(world)) return undefined;
  const due = keptVolumes.filter((volume) => !volume.isMounted && !volume.isLeaving && isOver(volume, now, intent));
  if (due.length === 0) return undefined;
  const steps = due.map(({ claim, uid, member }): Step => ({ kind: 'delete-volume', claim, uid, member }));
  const claims = due.map(({ claim }) => claim).join(', ');
  return act('VolumeDeleted', `deleting PersistentVolumeClaim ${claims} of removed members`, ...steps);
};

function isWell(world: ClusterWorld): boolean {
  const members = world.membership.seen ? world.membership.value.members : [];
  const isWhole = members.length >= wantedSize(world) && members.every(({ health }) => health === 'healthy');
  return isWhole && alarmsIn(world).length === 0;
}
