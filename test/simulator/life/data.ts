import { quorumOf } from '../../../src/core/quorum.ts';
import type { EtcdGroup } from '../etcd/group.ts';
import type { Disk } from '../etcd/types.ts';
import type { World } from './world.ts';

/** All volumes that hold data of members of formed clusters, or may soon. */
function votersWithData(group: EtcdGroup, world: World, without: Disk | undefined): number {
  const disks = world.nodes.runners.flatMap(({ pod }) => (pod === undefined ? [] : (world.volumes.diskOf(pod) ?? [])));
  const bare = world.volumes.claimDisks();
  const ids = new Set(
    [...disks, ...bare]
      .filter((disk) => disk !== without && disk.data?.group === group)
      .map(({ data }) => data?.memberId),
  );
  return group.entries.filter(({ id, isLearner }) => !isLearner && ids.has(id)).length;
}

/** True if a majority of voters keeps its data when a volume loses its data. A cluster that forms has none to lose. */
export function mayLose(disk: Disk | undefined, world: World): boolean {
  const group = disk?.data?.group;
  if (disk === undefined || group === undefined) return true;
  if (!group.hasFormed) return false;
  const voters = group.entries.filter(({ isLearner }) => !isLearner).length;
  return votersWithData(group, world, disk) >= quorumOf(voters);
}
