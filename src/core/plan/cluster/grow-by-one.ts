import { hasLearners } from '../../model/version.ts';
import { act, type Rule } from './step.ts';

/**
 * One more member. From etcd 3.4 on it joins without a vote, so that a newcomer that never starts puts nothing at risk;
 * before, it is a voter from its first moment, which is why all others must be healthy by now.
 */
export const growByOne: Rule = ({ intent, membership, spareNames }) => {
  if (!membership.seen || membership.value.members.length >= intent.size) return undefined;
  const { members } = membership.value;
  const name = spareNames[0];
  if (name === undefined) return undefined;
  const as = members.every((member) => hasLearners(member.version ?? intent.version)) ? 'learner' : 'voter';
  const message = `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`;
  return act('ScalingUp', message, { kind: 'add-member', name, as });
};
