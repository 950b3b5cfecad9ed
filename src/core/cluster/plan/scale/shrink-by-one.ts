import { survivesRemovalOf } from '../../../quorum.ts';
import { type ClusterWorld, type KnownWorld, type Member, memberPodNamed } from '../../model/cluster.ts';
import type { MemberNames } from '../../model/intent.ts';
import { ordinalOf } from '../../model/ordinals.ts';
import { canMoveLeader } from '../../model/version.ts';
import { leaveClientService } from '../roll/leave-client-service.ts';
import { needsReplacement, wantedSize } from '../roll/outdated.ts';
import { act, type Rule, type Verdict, wait } from '../step.ts';

/**
 * Removes one member: unhealthy members first, then learners, then outdated members. Among equals, with random names a
 * follower is removed before the leader. With numbered names the highest number is removed, after a transfer of its
 * leadership. It leaves the client Service first. The pod and the PVC are deleted after etcd has removed the member.
 */
export const shrinkByOne: Rule<KnownWorld> = (world) => {
  const { intent, membership } = world;
  const { members } = membership.value;
  if (members.length <= wantedSize(world)) return undefined;
  const victim = victimOf(members, world);
  if (victim === undefined) return undefined;
  const message = `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`;
  if (!survivesRemovalOf(victim.id, members))
    return wait('ScalingDown', `${message}; blocked: the removal of ${victim.name} would lose quorum`);
  const { id, name } = victim;
  const removal = act('ScalingDown', message, { kind: 'remove-member', id, name, because: 'surplus' });
  const pod = memberPodNamed(world, name);
  const leaving = pod === undefined ? undefined : leaveClientService(pod, world, 'ScalingDown');
  return transferLeadership(victim, members, world) ?? leaving ?? removal;
};

function victimOf(members: readonly Member[], world: ClusterWorld): Member | undefined {
  const { memberNames } = world.intent;
  const worth = (member: Member): number =>
    worthOf(member, needsReplacement(member, world)) + (memberNames === 'random' && member.leads ? 2 : 0);
  return members.toSorted((a, b) => worth(a) - worth(b) || inOrder[memberNames](a, b))[0];
}

const worthOf = ({ health, role }: Member, isOutdated: boolean): number =>
  (health === 'healthy' ? 8 : 0) + (role === 'voter' ? 4 : 0) + (isOutdated ? 0 : 1);

const inOrder: Readonly<Record<MemberNames, (a: Member, b: Member) => number>> = {
  random: (a, b) => a.name.localeCompare(b.name),
  ordinal: (a, b) => ordinalOf(b.name) - ordinalOf(a.name),
};

/** Transfers leadership to the lowest number, which is removed last. */
function transferLeadership(victim: Member, members: readonly Member[], { intent }: ClusterWorld): Verdict | undefined {
  const canTransfer = victim.leads && canMoveLeader(victim.version ?? intent.version);
  if (intent.memberNames === 'random' || !canTransfer) return undefined;
  const transferees = members.filter(
    ({ id, role, health }) => id !== victim.id && role === 'voter' && health === 'healthy',
  );
  const transferee = transferees.toSorted((a, b) => ordinalOf(a.name) - ordinalOf(b.name))[0];
  if (transferee === undefined) return undefined;
  const { id, name } = transferee;
  return act('ScalingDown', `transferring leadership from ${victim.name} to ${name}`, {
    kind: 'transfer-leadership',
    id,
    name,
  });
}
