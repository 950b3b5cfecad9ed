import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { quorumOf, survivesRemovalOf } from '../../quorum.ts';
import { isFirstOfItsKind } from './outdated.ts';
import { isOverdue } from './start-newcomer.ts';
import { act, type Rule, type Verdict } from './step.ts';

/**
 * A member that will not come back is removed first, and `grow-by-one` adds its successor: a dead voter counts against
 * the majority until it is gone, and etcd may refuse to grow while one is down.
 */
export const replaceDeadMember: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const dead = members.find((member) => isDead(member, world));
  return dead === undefined ? undefined : giveUp(dead, members);
};

/** Nobody is, where those who are left would be no majority. */
export function giveUp({ id, name }: Member, members: readonly Member[]): Verdict | undefined {
  if (!survivesRemovalOf(id, members)) return undefined;
  const step = { kind: 'remove-member', id, name, because: 'dead' } as const;
  return act('DeadMember', `The dead member ${name} is being replaced`, step);
}

/** That it does not answer us is not enough: its data must be gone, or it must have been out of Kubernetes' reach for long. */
function isDead(member: Member, world: ClusterWorld): boolean {
  if (member.health === 'healthy') return false;
  const carrier = carrierNamed(world, member.name);
  if (carrier === undefined) return member.health !== 'never-started';
  if (hasLostItsData(carrier)) return true;
  if (!isGoneForLong(member, carrier, world) || areJustBack(world)) return false;
  return !isFirstOfItsKind(carrier, world) || shouldBeGone(carrier, world);
}

/** In fewer looks than this, a member may only have been busy each time. */
const fewestLooks = 5;

/** Neither etcd nor Kubernetes has found it well in any pass for the whole time. One answer begins that time anew. */
export function isGoneForLong({ silence }: Member, carrier: Carrier, { intent }: ClusterWorld): boolean {
  const { millis, looks } = silence ?? { millis: 0, looks: 0 };
  const isSilent = millis > intent.replaceAfterSeconds * 1000 && looks >= fewestLooks;
  return isSilent && isOverdue(carrier, intent.replaceAfterSeconds);
}

/** How much later than the others one may be who was away with them. */
const secondsBehind = 60;

/** When all nodes were away, whoever comes back last has not been away for longer than those who came before it. */
function areJustBack({ carriers, memory: { voters }, intent }: ClusterWorld): boolean {
  const grace = Math.min(secondsBehind, intent.replaceAfterSeconds) * 1000;
  const ready = carriers.filter((carrier) => carrier.ready);
  const justBack = ready.filter(({ readyMillis = grace }) => readyMillis < grace);
  return justBack.length > 0 && ready.length - justBack.length < quorumOf(voters.length);
}

/** Whoever was told to stop and is still there is on a node that does not listen, whatever it was last given. */
const shouldBeGone = ({ stoppingMillis = 0, graceMillis = 0 }: Carrier, { intent }: ClusterWorld): boolean =>
  stoppingMillis - graceMillis > intent.replaceAfterSeconds * 1000;

const hasLostItsData = ({ disk, phase }: Carrier): boolean =>
  disk === 'lost' || (disk === 'with-pod' && (phase === 'ended' || phase === 'stopping' || phase === 'gone'));
