import { quorumOf } from '../../../src/core/quorum.ts';
import type { EtcdGroup } from '../etcd/group.ts';
import type { Disk } from '../etcd/types.ts';
import type { World } from './world.ts';

/** The volumes that outlive the deletions that have begun. */
export function keptDisks({ nodes, volumes }: World): readonly Disk[] {
  const ofPods = nodes.runners.flatMap(({ pod }) =>
    pod === undefined || pod.metadata.deletionTimestamp !== undefined ? [] : (volumes.diskOf(pod) ?? []),
  );
  return [...ofPods, ...volumes.claimDisks()];
}

function votersWithData(group: EtcdGroup, world: World, without: Disk | undefined): number {
  const kept = keptDisks(world).filter((disk) => disk !== without && disk.data?.group === group);
  const ids = new Set(kept.map(({ data }) => data?.memberId));
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
