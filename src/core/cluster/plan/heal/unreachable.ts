import { hasQuorum, quorumOf } from '../../../quorum.ts';
import { type ClusterWorld, type Member, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import type { MemberName } from '../../model/names.ts';
import { knownVoters } from '../bootstrap/has-formed.ts';

/** An unreachable member is reported after this time. A restart takes less. */
export const reportedAfterMillis = 15_000;
/** The loss of quorum is reported after this time. */
export const contactLostAfterMillis = 5_000;

/** True if fewer than a majority of the voters are known to be healthy. */
export const isWithoutQuorum = ({ membership }: Pick<ClusterWorld, 'membership'>): boolean =>
  !membership.seen || !hasQuorum(membership.value.members);

/** True if the loss of quorum has lasted longer than a transient delay. */
export const hasLostContact = (world: ClusterWorld): boolean =>
  isWithoutQuorum(world) && (world.withoutQuorumMillis ?? 0) >= contactLostAfterMillis;

/** True if a majority of pods is ready and no member reports a loss of quorum: only the operator cannot reach etcd. */
export function mayServeUnreached(world: ClusterWorld): boolean {
  const { membership, memberPods } = world;
  if (!membership.seen && membership.unconfirmed !== undefined) return false;
  const voters = knownVoters(world);
  const ready = memberPods.filter((memberPod) => memberPod.ready && voters.includes(memberPod.name));
  return voters.length > 0 && ready.length >= quorumOf(voters.length);
}

/** The members that have been unreachable for long enough to be reported. */
export function unreachableMembers({ membership }: Pick<ClusterWorld, 'membership'>): readonly MemberName[] {
  const members = membership.seen ? membership.value.members : [];
  return members.filter((each) => isUnreachable(each) && isSilentTooLong(each)).map(({ name }) => name);
}

const isUnreachable = ({ health }: Member): boolean => health === 'silent' || health === 'lost';

/** True if the member has not answered for a while, and not only once. */
export const isSilentTooLong = ({ silence }: Member): boolean => (silence?.millis ?? 0) >= reportedAfterMillis;

/** The report on unreachable members while there is quorum; undefined if all members answer. */
export function unreachableMessage(world: ClusterWorld): string | undefined {
  const unreachable = unreachableMembers(world);
  if (unreachable.length === 0 || !world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const isLost = (name: MemberName): boolean => members.some((each) => each.name === name && each.health === 'lost');
  const [lost, silent] = [unreachable.filter(isLost), unreachable.filter((name) => !isLost(name))];
  return [
    ...(silent.length === 0 ? [] : [`${countOf(silent, members.length)}: ${causesOf(silent, world)}`]),
    ...(lost.length === 0
      ? []
      : [`${lost.length} of ${members.length} members without a leader: ${lost.join(', ')} (${checkNetwork})`]),
  ].join('; ');
}

const checkNetwork = 'etcd answers, but follows no leader of this cluster: check the network between members';

/** The report on a loss of quorum: the unreachable members, and the state of their pods and nodes. */
export function lostQuorumMessage(world: ClusterWorld): string {
  const { membership, secretProblems } = world;
  const isRefused = !membership.seen && (membership.refused !== undefined || secretProblems.length > 0);
  if (isRefused) return membership.why;
  const known = membersKnown(world);
  const unreachable = known.filter(({ isAnswering }) => !isAnswering).map(({ name }) => name);
  if (unreachable.length === 0)
    return membership.seen ? 'fewer than a majority of the voters are healthy' : membership.why;
  if (unreachable.length === known.length && areReady(unreachable, world)) return outOfReach(unreachable, world);
  return `${countOf(unreachable, known.length)}: ${causesOf(unreachable, world)}; ${noMajority}`;
}

const noMajority = 'without a majority etcd serves no writes; nothing is changed until members answer again';

interface Known {
  readonly name: MemberName;
  readonly isAnswering: boolean;
}

/** The voters by the unconfirmed membership of a member, or by the status if no member answers. */
function membersKnown(world: ClusterWorld): readonly Known[] {
  const { membership } = world;
  const listed = (membership.seen ? membership.value : membership.unconfirmed)?.members.filter(
    ({ role }) => role === 'voter',
  );
  if (listed === undefined) return knownVoters(world).map((name) => ({ name, isAnswering: false }));
  return listed.map((member) => ({ name: member.name, isAnswering: member.health !== 'silent' }));
}

const areReady = (names: readonly MemberName[], world: ClusterWorld): boolean =>
  names.every((name) => memberPodNamed(world, name)?.ready === true);

/** All pods are ready, so the network between the operator and etcd, or the operator's credentials, are the cause. */
function outOfReach(unreachable: readonly MemberName[], { membership }: ClusterWorld): string {
  const why = membership.seen ? 'etcd does not answer in time' : membership.why;
  const [first, ...others] = unreachable;
  const pods = others.length === 0 ? `pod ${first} is` : 'the pods of all members are';
  return `${pods} ready, but the operator cannot reach etcd: ${why}; check NetworkPolicies between the operator and port 2379`;
}

const countOf = (unreachable: readonly MemberName[], all: number): string =>
  `${unreachable.length} of ${all} members unreachable`;

const causesOf = (unreachable: readonly MemberName[], world: ClusterWorld): string =>
  [...new Set(unreachable.map((name) => causeOf(name, memberPodNamed(world, name))))].join('; ');

/** Uses the Pod's status only: the operator may lack permission to read Nodes. */
function causeOf(name: MemberName, memberPod: MemberPod | undefined): string {
  if (memberPod === undefined || memberPod.phase === 'gone') return `pod ${name} does not exist`;
  const { node, isNodeLost, phase, why } = memberPod;
  if (isNodeLost === true) return `${node} is NotReady`;
  if (phase === 'stuck') return `pod ${name} cannot start: ${why}`;
  return `pod ${name}${node === undefined ? '' : ` on ${node}`} ${stateOf(memberPod)}`;
}

function stateOf({ phase, ready }: MemberPod): string {
  if (phase === 'stopping') return 'is being deleted';
  return ready ? 'is ready, but etcd in it does not answer' : 'is not ready';
}
