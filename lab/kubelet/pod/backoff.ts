/** The back-off before a crashed container restarts. Absent before the first restart. */
export interface CrashBackoff {
  readonly seconds: number;
  /** The time of the last restart, in milliseconds. */
  readonly restartedAt: number;
}

const firstSeconds = 10;
const maxSeconds = 300;

/** The time at which an ended container may restart: the first time at once, later after the back-off. */
export const mayStartAt = (backoff: CrashBackoff | undefined, endedAt: number): number =>
  backoff === undefined || isReset(backoff, endedAt) ? endedAt : endedAt + backoff.seconds * 1000;

/** The back-off after a restart: doubled, or reset if the container ran well for long. */
export const afterRestart = (backoff: CrashBackoff | undefined, now: number): CrashBackoff => ({
  seconds: backoff === undefined || isReset(backoff, now) ? firstSeconds : Math.min(maxSeconds, backoff.seconds * 2),
  restartedAt: now,
});

const isReset = ({ restartedAt }: CrashBackoff, now: number): boolean => now - restartedAt > 2 * maxSeconds * 1000;
