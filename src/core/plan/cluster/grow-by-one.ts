import { hasLearners } from '../../model/version.ts';
import { wantedSize } from './outdated.ts';
import { act, type Rule } from './step.ts';

/**
 * One more member. From etcd 3.4 on it joins without a vote, so that a newcomer that never starts puts nothing at risk;
 * before, it is a voter from its first moment, which is why all others must be healthy by now.
 */
export const growByOne: Rule = (world) => {
  const { intent, membership, spareNames } = world;
  if (!membership.seen || membership.value.members.length >= wantedSize(world)) return undefined;
  const { members } = membership.value;
  const name = spareNames[0];
  if (name === undefined) return undefined;
  const as = members.every((member) => hasLearners(member.version ?? intent.version)) ? 'learner' : 'voter';
  const step = { kind: 'add-member', name, as } as const;
  if (members.length >= intent.size)
    return act('Rolling', 'adding a member that takes the place of an outdated one', step);
  return act('ScalingUp', `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`, step);
};
