import { type ClusterWorld, type KnownWorld, type Member, memberPodNamed } from '../../model/cluster.ts';
import { causeOf } from '../cause.ts';
import { act, type Rule, wait } from '../step.ts';

/**
 * The maximum lag of a learner behind the leader, in log entries. etcd's own limit is a tenth of the whole log, which
 * is too much on an old cluster. A leader keeps this many entries in memory for followers.
 */
const nearEnough = 5000n;

/** Promotes a learner once it has caught up. Until then no other member is added. */
export const promoteLearner: Rule<KnownWorld> = (world) => {
  const { members } = world.membership.value;
  const learner = members.find((member) => member.role === 'learner');
  if (learner === undefined) return undefined;
  if (learner.health === 'healthy' && hasCaughtUp(learner, members)) {
    const { id, name } = learner;
    return act('MemberStarting', `promoting learner ${name}`, { kind: 'promote-member', id, name });
  }
  return stuckMemberPodOf(learner, world) ?? wait('MemberStarting', `waiting for learner ${learner.name} to catch up`);
};

export function hasCaughtUp(learner: Member, members: readonly Member[]): boolean {
  const leader = members.find((member) => member.leads);
  if (leader?.raftIndex === undefined || learner.raftIndex === undefined) return false;
  return leader.raftIndex - learner.raftIndex <= nearEnough;
}

const stuckMemberPodOf = (learner: Member, world: ClusterWorld): ReturnType<Rule> => {
  const memberPod = memberPodNamed(world, learner.name);
  return memberPod === undefined ? undefined : causeOf([memberPod]);
};
