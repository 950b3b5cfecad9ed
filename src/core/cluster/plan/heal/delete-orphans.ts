import type { KnownWorld } from '../../model/cluster.ts';
import { needsPreparation, preparedMemberPod } from '../scale/second-voter.ts';
import { act, type MemberStep, type Rule } from '../step.ts';

/**
 * Deletes pods and PVCs of names that are not in etcd's member list: removed members, or members that were never added.
 */
export const deleteOrphans: Rule<KnownWorld> = (world) => {
  const { membership, memberPods } = world;
  const prepared = needsPreparation(world) ? preparedMemberPod(world) : undefined;
  const listed = new Set(membership.value.members.map(({ name }) => name));
  const orphans = memberPods.filter(
    (memberPod) => !listed.has(memberPod.name) && memberPod.phase !== 'stopping' && memberPod !== prepared,
  );
  if (orphans.length === 0) return undefined;
  const steps = orphans.map(({ name, uid }): MemberStep => ({ kind: 'delete-member-pod', name, uid }));
  return act(
    'OrphanedResource',
    `deleting orphaned pods and PVCs: ${orphans.map(({ name }) => name).join(', ')}`,
    ...steps,
  );
};
