import { quorumOf, survivesRemovalOf } from '../../../quorum.ts';
import {
  type ClusterWorld,
  type KnownWorld,
  type Member,
  type MemberPod,
  memberPodNamed,
} from '../../model/cluster.ts';
import { hasUnprovenTemplate } from '../roll/outdated.ts';
import { isUnreadyTooLong } from '../scale/start-joining-member.ts';
import { act, type Rule, type Verdict } from '../step.ts';

/**
 * Removes a dead member first; `grow-by-one` adds its replacement. A dead voter counts for the quorum size until it is
 * removed, and etcd may refuse to add a member while another is down.
 */
export const replaceDeadMember: Rule<KnownWorld> = (world) => {
  const { members } = world.membership.value;
  const dead = members.find((member) => isDead(member, world));
  return dead === undefined ? undefined : removeDeadMember(dead, members);
};

/** Never removes a member if the rest would lose quorum. */
export function removeDeadMember({ id, name }: Member, members: readonly Member[]): Verdict | undefined {
  if (!survivesRemovalOf(id, members)) return undefined;
  const step = { kind: 'remove-member', id, name, because: 'dead' } as const;
  return act('DeadMember', `The dead member ${name} is being replaced`, step);
}

/** A member that does not answer is not dead yet: its data must be lost, or its pod must have been unready for long. */
function isDead(member: Member, world: KnownWorld): boolean {
  if (member.health === 'healthy') return false;
  const memberPod = memberPodNamed(world, member.name);
  if (memberPod === undefined) return member.health !== 'never-started';
  if (hasLostItsData(memberPod)) return true;
  if (!isUnreachableForLong(member, memberPod, world) || areJustBack(world)) return false;
  return !hasUnprovenTemplate(memberPod, world) || shouldBeGone(memberPod, world) || hasFoundNoData(memberPod);
}

/**
 * True if etcd has found an empty volume and refuses to bootstrap again (see `bootstrapForbidden`). The cause is the
 * volume, not the template or the version, so a replacement can start.
 */
const hasFoundNoData = ({ bootstrapForbidden, phase, why }: MemberPod): boolean =>
  bootstrapForbidden && phase === 'stuck' && why.includes("couldn't find local name");

/** In fewer observations than this, the member may only have been busy. */
const fewestObservations = 5;

/**
 * True if etcd and Kubernetes have reported the member as unhealthy for the whole time. One answer restarts the time.
 */
export function isUnreachableForLong({ silence }: Member, memberPod: MemberPod, { intent }: ClusterWorld): boolean {
  const { millis, observations } = silence ?? { millis: 0, observations: 0 };
  const isSilent = millis > intent.replaceAfterSeconds * 1000 && observations >= fewestObservations;
  return isSilent && isUnreadyTooLong(memberPod, intent.replaceAfterSeconds);
}

/** How much later than the others a member may recover after an outage of all nodes. */
const secondsBehind = 60;

/** True if a majority has only just recovered, for example after an outage of all nodes: the rest get more time. */
function areJustBack({ memberPods, memory: { voters }, intent }: ClusterWorld): boolean {
  const grace = Math.min(secondsBehind, intent.replaceAfterSeconds) * 1000;
  const ready = memberPods.filter((memberPod) => memberPod.ready);
  const justBack = ready.filter(({ readyMillis = grace }) => readyMillis < grace);
  return justBack.length > 0 && ready.length - justBack.length < quorumOf(voters.length);
}

/** True if the pod is terminating far beyond its grace period: its node does not respond. */
const shouldBeGone = ({ stoppingMillis = 0, graceMillis = 0 }: MemberPod, { intent }: ClusterWorld): boolean =>
  stoppingMillis - graceMillis > intent.replaceAfterSeconds * 1000;

const hasLostItsData = ({ volume, phase }: MemberPod): boolean =>
  volume === 'lost' || (volume === 'with-pod' && (phase === 'ended' || phase === 'stopping' || phase === 'gone'));
