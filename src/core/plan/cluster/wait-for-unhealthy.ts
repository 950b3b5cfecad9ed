import { carrierNamed } from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
import { type Rule, wait } from './step.ts';

/** Nothing is added while somebody is away: each new voter raises the majority that the others must make up. */
export const waitForUnhealthy: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const away = world.membership.value.members.find((member) => member.health !== 'healthy');
  if (away === undefined) return undefined;
  const carrier = carrierNamed(world, away.name);
  const stuck = carrier === undefined ? undefined : causeOf([carrier]);
  return stuck ?? wait('MemberReturning', `waiting for ${away.name} to be healthy`);
};
