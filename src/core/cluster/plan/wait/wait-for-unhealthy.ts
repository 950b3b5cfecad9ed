import { type KnownWorld, memberPodNamed } from '../../model/cluster.ts';
import { causeOf } from '../cause.ts';
import { type Rule, wait } from '../step.ts';

/**
 * Adds no member while another is unhealthy: each new voter can raise the quorum that the healthy members must reach.
 */
export const waitForUnhealthy: Rule<KnownWorld> = (world) => {
  const unhealthy = world.membership.value.members.find((member) => member.health !== 'healthy');
  if (unhealthy === undefined) return undefined;
  const memberPod = memberPodNamed(world, unhealthy.name);
  const stuck = memberPod === undefined ? undefined : causeOf([memberPod]);
  return stuck ?? wait('MemberReturning', `waiting for member ${unhealthy.name} to be healthy`);
};
