/** How long a container that ended waits before it is started again. Absent as long as it has not ended. */
export interface CrashBackoff {
  readonly seconds: number;
  /** When it was last started again, in milliseconds. */
  readonly restartedAt: number;
}

const firstSeconds = 10;
const mostSeconds = 300;

/** When a container that ended then may start again: the first time at once, later only after the wait. */
export const mayStartAt = (backoff: CrashBackoff | undefined, endedAt: number): number =>
  backoff === undefined || isForgotten(backoff, endedAt) ? endedAt : endedAt + backoff.seconds * 1000;

/** The wait after it was started again: twice as long as the last, unless it had run well for long. */
export const afterRestart = (backoff: CrashBackoff | undefined, now: number): CrashBackoff => ({
  seconds:
    backoff === undefined || isForgotten(backoff, now) ? firstSeconds : Math.min(mostSeconds, backoff.seconds * 2),
  restartedAt: now,
});

const isForgotten = ({ restartedAt }: CrashBackoff, now: number): boolean => now - restartedAt > 2 * mostSeconds * 1000;
