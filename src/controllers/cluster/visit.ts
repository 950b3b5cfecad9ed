import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { Verdict } from '../../core/plan/cluster/step.ts';
import type { Reason } from '../../core/reasons.ts';
import { secondsUntilReport } from '../../core/status/trouble.ts';
import { acted, again, around, failed, notYet, type Outcome, waiting } from '../../runtime/outcome.ts';
import type { Failure } from '../../std/failure.ts';
import { isNotNow, type Trouble } from './trouble.ts';

/** How soon to look again: at once after a step, soon while something is under way, now and then when all is well. */
const seconds = {
  acted: 0.02,
  waiting: 0.2,
  waitingForBootstrap: 0.5,
  waitingForSecret: 1,
  waitingForPerson: 5,
  settled: 10,
} as const;

/** What a pass came to, as far as the next visit depends on it. */
export interface Ended {
  readonly observed: { readonly world: ClusterWorld };
  readonly verdict: Verdict;
  readonly trouble: Trouble;
}

/** The caches do not show the operator's last write yet. The event of that write is on its way. */
export const afterLateCache: Outcome = notYet(seconds.acted);

export const afterFailure = (failure: Failure): Outcome =>
  isNotNow(failure) ? waiting(`the end of: ${failure.kind}`, seconds.waiting) : failed(failure);

/** `untold`: in how many seconds a status may be written that was held back. */
export function nextVisit(pass: Ended, untold: number): Outcome {
  const outcome = visitAfter(pass, untold);
  const { world } = pass.observed;
  const hasFormed = world.memory.clusterId !== undefined; // until then members do not answer, and that is no fault
  return outcome.is === 'again' && hasFormed && isSilent(world) ? { ...outcome, isSilent: true } : outcome;
}

function visitAfter({ observed, verdict, trouble: { failure, aside } }: Ended, untold: number): Outcome {
  if (failure !== undefined) return afterFailure(failure);
  switch (verdict.is) {
    case 'act':
      return acted(`${verdict.reason}: ${verdict.message}`, seconds.acted);
    case 'wait':
      return waiting(verdict.reason, secondsFor(verdict), secondsUntilReport(observed.world));
    case 'settled':
      if (aside !== undefined) return waiting(`the end of: ${aside.kind}`, secondsBeside(aside));
      return untold > 0 ? again(untold) : around(seconds.settled); // etcd sends no event when something changes inside it
    default:
      return verdict satisfies never;
  }
}

/** Members were asked, and none has answered with a member list. */
export const isSilent = ({ membership, carriers }: Pick<ClusterWorld, 'membership' | 'carriers'>): boolean =>
  !membership.seen && carriers.some(({ hasRun, phase }) => hasRun && phase === 'running');

export const needsPerson = (verdict: Verdict): boolean => verdict.is === 'wait' && verdict.needsPerson === true;

/** Waits that end with a correction by a user, which is an event if it is in the spec; or waits that take a while. */
const isSlow: ReadonlySet<Reason> = new Set([
  'VolumeGrowing',
  'VolumeStuck',
  'Paused',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
]);

/**
 * How soon a wait is looked at while it is young. Secrets cannot be watched, because the operator may not list them; nor can
 * the certificates that members serve. Bootstrap members send an event when they are ready.
 */
function secondsFor(verdict: Verdict & { readonly is: 'wait' }): number {
  if (verdict.reason === 'Forming') return seconds.waitingForBootstrap;
  if (verdict.reason === 'SecretUnfit' || verdict.reason === 'Certificates') return seconds.waitingForSecret;
  return needsPerson(verdict) || isSlow.has(verdict.reason) ? seconds.waitingForPerson : seconds.waiting;
}

const secondsBeside = (aside: Failure): number => (isNotNow(aside) ? seconds.waiting : seconds.waitingForPerson);
