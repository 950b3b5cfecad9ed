import type { Member } from '../../model/cluster.ts';
import { survivesRemovalOf } from '../../quorum.ts';
import { needsNewPlace, wantedSize } from './outdated.ts';
import { act, type Rule, wait } from './step.ts';

/**
 * One member goes: one that is of no use anyway before one that works, a learner before a voter, a follower before the
 * leader. The pod and the disk follow when etcd has let go of it.
 */
export const shrinkByOne: Rule = (world) => {
  const { intent, membership } = world;
  if (!membership.seen || membership.value.members.length <= wantedSize(world)) return undefined;
  const { members } = membership.value;
  const worth = (member: Member): number => worthOf(member, needsNewPlace(member, world));
  const victim = members.toSorted((a, b) => worth(a) - worth(b) || a.name.localeCompare(b.name))[0];
  if (victim === undefined) return undefined;
  const message = `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`;
  if (!survivesRemovalOf(victim.id, members)) return wait('ScalingDown', `${message}; waiting for a healthy majority`);
  return act('ScalingDown', message, { kind: 'remove-member', id: victim.id, name: victim.name, because: 'surplus' });
};

const worthOf = ({ health, role, leads }: Member, isOutdated: boolean): number =>
  (health === 'healthy' ? 8 : 0) + (role === 'voter' ? 4 : 0) + (leads ? 2 : 0) + (isOutdated ? 0 : 1);
