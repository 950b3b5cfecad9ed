import type { Failure } from '../std/failure.ts';

/** What a pass says to the queue. There is no fourth way: no flags, no sentinel errors, no nulls. */
export type Outcome =
  | { readonly is: 'done' }
  | ({ readonly is: 'again' } & Again)
  | { readonly is: 'failed'; readonly failure: Failure };

export interface Again {
  readonly afterSeconds: number;
  /** What is waited for. A wait that goes on is looked at less often the longer it lasts; `Patience` says how often. */
  readonly waitsFor?: string;
  /** Which step was taken. Steps that change nothing are taken again less and less often; other waits begin anew. */
  readonly acted?: string;
  /** However long the wait has lasted, the next look is no later than this. */
  readonly atMostSeconds?: number;
  /** A visit that need not be on time: visits of different keys are spread. */
  readonly isRough?: true;
  /** This pass did not look, so a wait that was going on before goes on. */
  readonly isUnseen?: true;
  /** The key's etcd did not answer. Such keys have workers of their own. */
  readonly isSilent?: true;
}

/** Nothing more to do until something happens. */
export const done: Outcome = { is: 'done' };

/** Look again after this time. Whatever was waited for before is over. */
export const again = (afterSeconds: number): Outcome => ({ is: 'again', afterSeconds });

/** Look after this time at what came of a step, and less often when the same step is taken again and again. */
export const acted = (step: string, afterSeconds: number): Outcome => ({ is: 'again', afterSeconds, acted: step });

/** A rough visit is earlier or later than asked for by at most this share of the time. */
export const mostSpread = 0.2;

/** All is well, but look again about then, for what cannot be watched. */
export const around = (afterSeconds: number): Outcome => ({ is: 'again', afterSeconds, isRough: true });

/** A timer may fire a little early. */
const lateMillis = 10;

/**
 * Look again when a time has come, both in milliseconds of the wall clock, and about every `longestSeconds` until then: clocks
 * are put forward and back. A visit in between is never later than the time itself.
 */
export function visitAt(time: number | undefined, now: number, longestSeconds: number): Outcome {
  const left = time === undefined ? Number.POSITIVE_INFINITY : (Math.max(time - now, 0) + lateMillis) / 1000;
  return left > longestSeconds * (1 + mostSpread) ? around(longestSeconds) : again(left);
}

/** Look again after this time at first, and less often when the same wait lasts. */
export const waiting = (waitsFor: string, afterSeconds: number, atMostSeconds = Number.POSITIVE_INFINITY): Outcome => ({
  ...{ is: 'again', afterSeconds, waitsFor },
  ...(Number.isFinite(atMostSeconds) ? { atMostSeconds } : {}),
});

/** The caches are behind, so nothing was looked at. */
export const notYet = (afterSeconds: number): Outcome => ({ is: 'again', afterSeconds, isUnseen: true });

export const failed = (failure: Failure): Outcome => ({ is: 'failed', failure });
