import type { ClusterWorld, Member } from '../../model/cluster.ts';
import type { MemberNames } from '../../model/intent.ts';
import { ordinalOf } from '../../model/ordinals.ts';
import { canMoveLeader } from '../../model/version.ts';
import { survivesRemovalOf } from '../../quorum.ts';
import { needsNewPlace, wantedSize } from './outdated.ts';
import { act, type Rule, type Verdict, wait } from './step.ts';

/**
 * One member goes: one that is of no use anyway before one that works, a learner before a voter. Among equals it is a
 * follower before the leader; but where members are numbered it is the highest number, and a leader hands over first. The
 * pod and the disk follow when etcd has let go of it.
 */
export const shrinkByOne: Rule = (world) => {
  const { intent, membership } = world;
  if (!membership.seen || membership.value.members.length <= wantedSize(world)) return undefined;
  const { members } = membership.value;
  const victim = victimOf(members, world);
  if (victim === undefined) return undefined;
  const message = `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`;
  if (!survivesRemovalOf(victim.id, members)) return wait('ScalingDown', `${message}; waiting for a healthy majority`);
  const { id, name } = victim;
  const removal = act('ScalingDown', message, { kind: 'remove-member', id, name, because: 'surplus' });
  return handOver(victim, members, world) ?? removal;
};

function victimOf(members: readonly Member[], world: ClusterWorld): Member | undefined {
  const { memberNames } = world.intent;
  const worth = (member: Member): number =>
    worthOf(member, needsNewPlace(member, world)) + (memberNames === 'random' && member.leads ? 2 : 0);
  return members.toSorted((a, b) => worth(a) - worth(b) || inOrder[memberNames](a, b))[0];
}

const worthOf = ({ health, role }: Member, isOutdated: boolean): number =>
  (health === 'healthy' ? 8 : 0) + (role === 'voter' ? 4 : 0) + (isOutdated ? 0 : 1);

const inOrder: Readonly<Record<MemberNames, (a: Member, b: Member) => number>> = {
  random: (a, b) => a.name.localeCompare(b.name),
  ordinal: (a, b) => ordinalOf(b.name) - ordinalOf(a.name),
};

/** The lead goes to the lowest number, which is the last to go. */
function handOver(victim: Member, members: readonly Member[], { intent }: ClusterWorld): Verdict | undefined {
  const mayHandOver = victim.leads && canMoveLeader(victim.version ?? intent.version);
  if (intent.memberNames === 'random' || !mayHandOver) return undefined;
  const heirs = members.filter(({ id, role, health }) => id !== victim.id && role === 'voter' && health === 'healthy');
  const heir = heirs.toSorted((a, b) => ordinalOf(a.name) - ordinalOf(b.name))[0];
  if (heir === undefined) return undefined;
  const { id, name } = heir;
  return act('ScalingDown', `moving the lead from ${victim.name} to ${name}`, { kind: 'move-leader', id, name });
}
