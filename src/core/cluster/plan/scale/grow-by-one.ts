import type { KnownWorld } from '../../model/cluster.ts';
import { hasLearners } from '../../model/version.ts';
import { wantedSize } from '../roll/outdated.ts';
import { act, type Rule } from '../step.ts';

/**
 * Adds one member. From etcd 3.4 on it joins as a learner, so a member that never starts does not endanger quorum.
 * Before 3.4 it is a voter at once; all other members are healthy at this point.
 */
export const growByOne: Rule<KnownWorld> = (world) => {
  const { intent, membership, spareNames } = world;
  const { members } = membership.value;
  if (members.length >= wantedSize(world)) return undefined;
  const name = spareNames[0];
  if (name === undefined) return undefined;
  const as = members.every((member) => hasLearners(member.version ?? intent.version)) ? 'learner' : 'voter';
  const step = { kind: 'add-member', name, as } as const;
  if (members.length >= intent.size)
    return act('Rolling', `adding member ${name} as a replacement for an outdated member`, step);
  return act('ScalingUp', `Current cluster size: ${members.length}, desired cluster size: ${intent.size}`, step);
};
