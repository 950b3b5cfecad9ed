import type { Reason } from '../../../reasons.ts';
import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import type { Verdict } from '../step.ts';

/** EndpointSlices usually follow a label within milliseconds. A stale EndpointSlice does not block a change for ever. */
const longestWaitMillis = 10_000;

/**
 * Waits until the client Service no longer leads to a member that is about to stop, so that clients reconnect to
 * another member. A Service without another ready member is left as it is.
 */
export function leaveClientService(
  memberPod: MemberPod,
  world: Pick<ClusterWorld, 'memberPods' | 'clientEndpoints'>,
  reason: Reason,
): Verdict | undefined {
  const { name, serves } = memberPod;
  if (!servesBesideOthers(memberPod, world) || (serves === false && hasLeft(memberPod, world))) return undefined;
  const message = `waiting until the client Service no longer leads to ${name}, which is about to stop`;
  return { is: 'wait', reason, message, withdraws: name };
}

const servesBesideOthers = (memberPod: MemberPod, { memberPods }: Pick<ClusterWorld, 'memberPods'>): boolean =>
  memberPod.serves !== undefined &&
  memberPod.ready &&
  memberPods.some((other) => other !== memberPod && other.ready && other.serves === true);

const hasLeft = (
  { name, withdrawnMillis = 0 }: MemberPod,
  { clientEndpoints }: Pick<ClusterWorld, 'clientEndpoints'>,
): boolean =>
  withdrawnMillis > longestWaitMillis || clientEndpoints === 'unknown' || clientEndpoints?.includes(name) === false;

/** True if the plan needs to know where the client Service leads: a member has left it and is about to stop. */
export const needsClientEndpoints = (
  verdict: Verdict,
  { memberPods, clientEndpoints }: Pick<ClusterWorld, 'memberPods' | 'clientEndpoints'>,
): boolean =>
  verdict.is === 'wait' &&
  verdict.withdraws !== undefined &&
  clientEndpoints === undefined &&
  memberPods.some(({ name, serves }) => name === verdict.withdraws && serves === false);
