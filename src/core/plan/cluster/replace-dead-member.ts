import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { survivesRemovalOf } from '../../quorum.ts';
import { isFirstOfItsKind } from './outdated.ts';
import { isOverdue } from './start-newcomer.ts';
import { act, type Rule } from './step.ts';

/**
 * A member that will not come back is removed first, and `grow-by-one` adds its successor: a dead voter counts against
 * the majority until it is gone, and etcd may refuse to grow while one is down.
 */
export const replaceDeadMember: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const dead = members.find((member) => isDead(member, world));
  if (dead === undefined || !survivesRemovalOf(dead.id, members)) return undefined;
  const { id, name } = dead;
  return act('DeadMember', `The dead member ${name} is being replaced`, {
    kind: 'remove-member',
    id,
    name,
    because: 'dead',
  });
};

/** That it does not answer us is not enough: its data must be gone, or it must have been out of Kubernetes' reach for long. */
function isDead(member: Member, world: ClusterWorld): boolean {
  if (member.health === 'healthy') return false;
  const carrier = carrierNamed(world, member.name);
  if (carrier === undefined) return member.health !== 'never-started';
  if (hasLostItsData(carrier)) return true;
  return isOverdue(carrier, world.now, world.intent.replaceAfterSeconds) && !isFirstOfItsKind(carrier, world);
}

const hasLostItsData = ({ disk, phase }: Carrier): boolean =>
  disk === 'lost' || (disk === 'with-pod' && (phase === 'ended' || phase === 'stopping' || phase === 'gone'));
