import type { Failure } from '../std/failure.ts';

/** The result of a pass: done, requeue, or failed. */
export type Outcome =
  | { readonly is: 'done' }
  | ({ readonly is: 'requeue' } & Requeue)
  | { readonly is: 'failed'; readonly failure: Failure };

export interface Requeue {
  readonly afterSeconds: number;
  /** The name of the wait. A long wait is requeued less and less often, see `WaitBackoff`. */
  readonly waitsFor?: string;
  /** The step that was taken. A repeated step is requeued less and less often; a new step resets all waits. */
  readonly afterStep?: string;
  /** The upper bound of the delay, whatever the age of the wait. */
  readonly atMostSeconds?: number;
  /** The time is approximate: jitter is added, so that keys spread. */
  readonly isApproximate?: true;
  /** The cache was behind and the pass observed nothing, so the current wait keeps its age. */
  readonly isCacheBehind?: true;
  /** The key's etcd did not answer. Such keys go to the slow lane. */
  readonly isUnresponsive?: true;
}

/** Nothing to do until the next event. */
export const done: Outcome = { is: 'done' };

/** Requeues after a delay, and ends the current wait. */
export const requeueAfter = (afterSeconds: number): Outcome => ({ is: 'requeue', afterSeconds });

/** Requeues after a step. The delay grows if the same step is repeated. */
export const requeueAfterStep = (step: string, afterSeconds: number): Outcome => ({
  is: 'requeue',
  afterSeconds,
  afterStep: step,
});

/** The jitter of an approximate requeue, as a share of its delay, in both directions. */
export const mostJitter = 0.2;

/** Requeues at an approximate time, to observe state that has no watch. */
export const requeueAround = (afterSeconds: number): Outcome => ({ is: 'requeue', afterSeconds, isApproximate: true });

/** A timer may fire a little early. */
const lateMillis = 10;

/**
 * Requeues at `time`, and about every `longestSeconds` until then, because the wall clock may be adjusted. `time` and
 * `now` are wall-clock milliseconds. Jitter never delays the requeue beyond `time`.
 */
export function requeueAt(time: number | undefined, now: number, longestSeconds: number): Outcome {
  const left = time === undefined ? Number.POSITIVE_INFINITY : (Math.max(time - now, 0) + lateMillis) / 1000;
  return left > longestSeconds * (1 + mostJitter) ? requeueAround(longestSeconds) : requeueAfter(left);
}

/** Requeues after a delay, which grows while the same wait lasts. */
export const waiting = (waitsFor: string, afterSeconds: number, atMostSeconds = Number.POSITIVE_INFINITY): Outcome => ({
  is: 'requeue',
  afterSeconds,
  waitsFor,
  ...(Number.isFinite(atMostSeconds) ? { atMostSeconds } : {}),
});

/** Requeues soon because the cache is behind our own writes; the pass observed nothing. */
export const requeueOnStaleCache: Outcome = { is: 'requeue', afterSeconds: 0.02, isCacheBehind: true };

export const failed = (failure: Failure): Outcome => ({ is: 'failed', failure });
