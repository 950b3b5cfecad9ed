import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import type { CarrierName } from '../../model/names.ts';
import { hasQuorum, quorumOf } from '../../quorum.ts';
import { knownVoters } from './formed-unseen.ts';

/** From then on it is reported that a member does not answer: one that only starts again is back sooner. */
export const reportedAfterMillis = 15_000;
/** From then on it is reported that no majority answers, or that etcd cannot be reached at all. */
export const contactLostAfterMillis = 5_000;

/** Whether fewer than a majority of the voters are known to be healthy. */
export const isWithoutQuorum = ({ membership }: Pick<ClusterWorld, 'membership'>): boolean =>
  !membership.seen || !hasQuorum(membership.value.members);

/** Whether that has lasted for so long that it is no passing delay. */
export const hasLostContact = (world: ClusterWorld): boolean =>
  isWithoutQuorum(world) && (world.withoutQuorumMillis ?? 0) >= contactLostAfterMillis;

/** Whether Kubernetes says of a majority that they serve, and no member says otherwise: then only the operator is cut off. */
export function mayServeUnheard(world: ClusterWorld): boolean {
  const { membership, carriers } = world;
  if (!membership.seen && membership.rumour !== undefined) return false;
  const voters = knownVoters(world);
  const ready = carriers.filter((carrier) => carrier.ready && voters.includes(carrier.name));
  return voters.length > 0 && ready.length >= quorumOf(voters.length);
}

/** The members that have not answered for so long that it is reported. */
export function unreachableMembers({ membership }: Pick<ClusterWorld, 'membership'>): readonly CarrierName[] {
  const members = membership.seen ? membership.value.members : [];
  return members.filter((each) => isAway(each) && isOverdue(each)).map(({ name }) => name);
}

const isAway = ({ health }: Member): boolean => health === 'silent' || health === 'lost';
const isOverdue = ({ silence }: Member): boolean => (silence?.millis ?? 0) >= reportedAfterMillis;

/** What is reported of members that have been away for a while although a majority answers; nothing where all do. */
export function sentenceOnUnreachable(world: ClusterWorld): string | undefined {
  const away = unreachableMembers(world);
  if (away.length === 0 || !world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const isLost = (name: CarrierName): boolean => members.some((each) => each.name === name && each.health === 'lost');
  const [lost, silent] = [away.filter(isLost), away.filter((name) => !isLost(name))];
  return [
    ...(silent.length === 0 ? [] : [`${countOf(silent, members.length)}: ${causesOf(silent, world)}`]),
    ...(lost.length === 0
      ? []
      : [`${lost.length} of ${members.length} members without a leader: ${lost.join(', ')} (${checkNetwork})`]),
  ].join('; ');
}

const checkNetwork = 'etcd answers, but follows no leader of this cluster: check the network between members';

/** What is reported while no majority answers: which members are away, and what Kubernetes says of their pods and nodes. */
export function sentenceOnLostQuorum(world: ClusterWorld): string {
  const { membership, secretProblems } = world;
  const isShutOut = !membership.seen && (membership.refused !== undefined || secretProblems.length > 0);
  if (isShutOut) return membership.why;
  const known = membersKnown(world);
  const away = known.filter(({ isHeard }) => !isHeard).map(({ name }) => name);
  if (away.length === 0) return membership.seen ? 'fewer than a majority of the voters are healthy' : membership.why;
  if (away.length === known.length && areReady(away, world)) return outOfReach(away, world);
  return `${countOf(away, known.length)}: ${causesOf(away, world)}; ${noMajority}`;
}

const noMajority = 'without a majority etcd serves no writes, and nothing is changed until members are back';

interface Known {
  readonly name: CarrierName;
  readonly isHeard: boolean;
}

/** The voters, by the list of a member that answers without a majority, or else by what is remembered. */
function membersKnown(world: ClusterWorld): readonly Known[] {
  const { membership } = world;
  const listed = (membership.seen ? membership.value : membership.rumour)?.members.filter(
    ({ role }) => role === 'voter',
  );
  if (listed === undefined) return knownVoters(world).map((name) => ({ name, isHeard: false }));
  return listed.map((member) => ({ name: member.name, isHeard: member.health !== 'silent' }));
}

const areReady = (names: readonly CarrierName[], world: ClusterWorld): boolean =>
  names.every((name) => carrierNamed(world, name)?.ready === true);

/** Kubernetes says that they serve: then it is the way to them that is cut, or what they are asked with is refused. */
function outOfReach(away: readonly CarrierName[], { membership }: ClusterWorld): string {
  const why = membership.seen ? 'etcd does not answer in time' : membership.why;
  const [first, ...others] = away;
  const pods = others.length === 0 ? `pod ${first} is` : 'the pods of all members are';
  return `${pods} ready, but the operator cannot reach etcd: ${why}; check NetworkPolicies between the operator and port 2379`;
}

const countOf = (away: readonly CarrierName[], all: number): string => `${away.length} of ${all} members unreachable`;

const causesOf = (away: readonly CarrierName[], world: ClusterWorld): string =>
  [...new Set(away.map((name) => causeOf(name, carrierNamed(world, name))))].join('; ');

/** The Pod's own words: the operator may have no right to read Nodes. */
function causeOf(name: CarrierName, carrier: Carrier | undefined): string {
  if (carrier === undefined || carrier.phase === 'gone') return `pod ${name} does not exist`;
  const { node, isNodeLost, phase, why } = carrier;
  if (isNodeLost === true) return `${node} is NotReady`;
  if (phase === 'stuck') return `pod ${name} cannot start: ${why}`;
  return `pod ${name}${node === undefined ? '' : ` on ${node}`} ${stateOf(carrier)}`;
}

function stateOf({ phase, ready }: Carrier): string {
  if (phase === 'stopping') return 'is being deleted';
  return ready ? 'is ready, but etcd in it does not answer' : 'is not ready';
}
