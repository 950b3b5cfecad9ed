import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import { secondsUntilReport } from '../../core/cluster/status/trouble.ts';
import type { Reason } from '../../core/reasons.ts';
import { retryAfterOf } from '../../kube/errors.ts';
import { failed, type Outcome, requeueAfter, requeueAfterStep, requeueAround, waiting } from '../../runtime/outcome.ts';
import type { Failure } from '../../std/failure.ts';
import { isTransient, type Trouble } from './failure-report.ts';

/** The delay of the next pass: short after a step, medium during a wait, long for a settled cluster. */
const seconds = {
  acted: 0.02,
  waiting: 0.2,
  waitingForBootstrap: 0.5,
  waitingForSecret: 1,
  waitingForUser: 5,
  settled: 10,
} as const;

/** The result of a pass that the delay of the next pass depends on. */
export interface Ended {
  readonly observed: { readonly world: ClusterWorld };
  readonly verdict: Verdict;
  readonly trouble: Trouble;
  /** The time until the next look at a settled cluster; by default the shortest. */
  readonly secondsBetweenLooks?: number | undefined;
}

export const afterFailure = (failure: Failure): Outcome =>
  isTransient(failure) ? waiting(`retry after: ${failure.kind}`, seconds.waiting) : failed(failure);

/** `untilStatusWrite`: the seconds until a delayed status may be written. */
export function nextVisit(pass: Ended, untilStatusWrite: number): Outcome {
  const outcome = visitAfter(pass, untilStatusWrite);
  const { world } = pass.observed;
  const hasFormed = world.memory.clusterId !== undefined; // forming members do not answer, which is no failure
  return outcome.is === 'requeue' && hasFormed && isSilent(world) ? { ...outcome, isUnresponsive: true } : outcome;
}

function visitAfter(
  { observed, verdict, trouble: { failure, aside }, secondsBetweenLooks = seconds.settled }: Ended,
  untilStatusWrite: number,
): Outcome {
  if (failure !== undefined) return afterFailure(failure);
  switch (verdict.is) {
    case 'act':
      return requeueAfterStep(`${verdict.reason}: ${verdict.message}`, seconds.acted);
    case 'wait':
      return waiting(verdict.reason, secondsFor(verdict), secondsUntilReport(observed.world));
    case 'settled':
      if (aside !== undefined) return waiting(`retry after: ${aside.kind}`, secondsAfterAside(aside));
      // etcd sends no event of its changes
      return untilStatusWrite > 0 ? requeueAfter(untilStatusWrite) : requeueAround(secondsBetweenLooks);
    default:
      return verdict satisfies never;
  }
}

/** True if members run, and none of them answers with a member list. */
export const isSilent = ({ membership, memberPods }: Pick<ClusterWorld, 'membership' | 'memberPods'>): boolean =>
  !membership.seen && memberPods.some(({ hasRun, phase }) => hasRun && phase === 'running');

export const needsUserAction = (verdict: Verdict): boolean => verdict.is === 'wait' && verdict.needsUserAction === true;

/** Waits that take long, or that end with a change by a user. A change of the spec causes a watch event. */
const slowReasons: ReadonlySet<Reason> = new Set([
  'RollQueued',
  'VolumeGrowing',
  'VolumeStuck',
  'Paused',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
]);

/**
 * The first delay of a wait. Secrets cannot be watched, because the operator may not list them; nor can the
 * certificates that members serve. A bootstrap member that becomes ready causes a watch event of its pod.
 */
function secondsFor(verdict: Verdict & { readonly is: 'wait' }): number {
  if (verdict.reason === 'Forming') return seconds.waitingForBootstrap;
  if (verdict.reason === 'InvalidSecret' || verdict.reason === 'Certificates') return seconds.waitingForSecret;
  return needsUserAction(verdict) || slowReasons.has(verdict.reason) ? seconds.waitingForUser : seconds.waiting;
}

/** An overloaded API server names the time of the next request. */
const secondsAfterAside = (aside: Failure): number =>
  Math.max(isTransient(aside) ? seconds.waiting : seconds.waitingForUser, retryAfterOf(aside) ?? 0);
