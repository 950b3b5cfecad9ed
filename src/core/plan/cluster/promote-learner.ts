import { type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
import { act, type Rule, wait } from './step.ts';

/**
 * How far a learner may be behind the leader, in log entries. etcd's own rule is a tenth of the whole log, which on an old
 * cluster is a long way; this is what a leader keeps in memory for a follower to catch up with.
 */
const nearEnough = 5000n;

/** A learner gets its vote when it has caught up; until then nothing else is added. */
export const promoteLearner: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const learner = members.find((member) => member.role === 'learner');
  if (learner === undefined) return undefined;
  if (learner.health === 'healthy' && hasCaughtUp(learner, members)) {
    const { id, name } = learner;
    return act('MemberStarting', `giving ${name} its vote`, { kind: 'promote-member', id, name });
  }
  return stuckCarrierOf(learner, world) ?? wait('MemberStarting', `waiting for ${learner.name} to catch up`);
};

export function hasCaughtUp(learner: Member, members: readonly Member[]): boolean {
  const leader = members.find((member) => member.leads);
  if (leader?.raftIndex === undefined || learner.raftIndex === undefined) return false;
  return leader.raftIndex - learner.raftIndex <= nearEnough;
}

const stuckCarrierOf = (learner: Member, world: ClusterWorld): ReturnType<Rule> => {
  const carrier = carrierNamed(world, learner.name);
  return carrier === undefined ? undefined : causeOf([carrier]);
};
