import {
  type ClusterWorld,
  type KnownWorld,
  type Member,
  type MemberPod,
  type Membership,
  memberPodNamed,
} from '../../model/cluster.ts';
import { causeOf } from '../cause.ts';
import { isAsDesired, needsReplacement, versionForJoiningMembers } from '../roll/outdated.ts';
import { act, type Join, type Rule, type Verdict, wait } from '../step.ts';

/** Starts the pod of a member that was added and has never run. */
export const startJoiningMember: Rule<KnownWorld> = (world) => startAmong(world.membership.value, world);

/**
 * The same without quorum, where unconfirmed membership is enough: if the second of two voters has never started, there
 * is no quorum before it starts. With quorum, the rules between the two come first.
 */
export const startUnconfirmedMember: Rule = (world) => {
  const { membership } = world;
  return membership.seen || membership.unconfirmed === undefined
    ? undefined
    : startAmong(membership.unconfirmed, world);
};

/** The initial cluster of a joining member is etcd's member list. */
function startAmong({ members }: Membership, world: ClusterWorld): Verdict | undefined {
  const joiningMember = members.find((member) => member.health === 'never-started');
  if (joiningMember === undefined || world.memory.clusterId === undefined) return undefined;
  const memberPod = memberPodNamed(world, joiningMember.name);
  if (memberPod === undefined || memberPod.phase === 'gone') return start(joiningMember, members, world);
  return checkMemberPod(memberPod, world, versionAmong(members, world));
}

/** Without quorum no member counts as healthy, so the remembered version is used. The spec may name a later minor. */
const versionAmong = (members: readonly Member[], { memory, intent }: ClusterWorld): string =>
  versionForJoiningMembers(members, { version: memory.version ?? intent.version });

function checkMemberPod(memberPod: MemberPod, { intent }: ClusterWorld, version: string): Verdict | undefined {
  const { name, uid } = memberPod;
  if (mustBeRecreated(memberPod, isAsDesired(memberPod, version, intent)))
    return act('MemberStarting', `recreating pod ${name}`, { kind: 'stop-member-pod', name, uid });
  if (isUnreadyTooLong(memberPod, intent.replaceAfterSeconds)) return undefined; // `replaceDeadMember` removes the member
  return causeOf([memberPod]) ?? wait('MemberStarting', `waiting for member ${name} to start`);
}

function start({ name: joiningMember }: Member, members: readonly Member[], world: ClusterWorld): Verdict {
  const leaving = members.filter((member) => needsReplacement(member, world)).map(({ name }) => name);
  return act('MemberStarting', `starting member ${joiningMember}`, {
    kind: 'start-member-pod',
    name: joiningMember,
    join: joinAmong(members),
    version: versionAmong(members, world),
    ...(leaving.length === 0 ? {} : { leaving }),
  });
}

export const joinAmong = (members: readonly Member[]): Join => ({
  as: 'joining',
  among: members.map(({ name, peerURLs }) => ({ name, peerURL: peerURLs[0] ?? '' })),
});

/** True if the pod has ended or is outdated, or if re-bootstrap is forbidden: such a member cannot join. */
const mustBeRecreated = ({ phase, bootstrapForbidden, ready }: MemberPod, asDesired: boolean): boolean =>
  phase === 'ended' || (phase !== 'stopping' && (bootstrapForbidden || (!asDesired && !ready)));

/** True if this operator has seen the pod unready for longer than `seconds`. */
export const isUnreadyTooLong = ({ ready, unreadyMillis = 0 }: MemberPod, seconds: number): boolean =>
  !ready && unreadyMillis > seconds * 1000;
