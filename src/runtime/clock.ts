/** Time and randomness, passed as an argument. A test clock lets hours pass in milliseconds. */
export interface Clock {
  /** Monotonic milliseconds, for durations. The monotonic clock stops while the machine is suspended. */
  readonly monotonic: () => number;
  /** Wall-clock time, which may jump. For timestamps, and to detect a suspended machine. */
  readonly now: () => Date;
  /** Calls `call` once after `millis`; returns a function that cancels it. Delays above 24 days may end early. */
  readonly after: (millis: number, call: () => void) => () => void;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** The longest delay of setTimeout. Node fires longer timers at once. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  after: (millis, call) => {
    const timer = setTimeout(call, Math.min(millis, longestTimer));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits for `millis`. Returns early, without an error, when `signal` aborts. */
export function pause(clock: Clock, millis: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    cancel();
    signal.removeEventListener('abort', end);
    resolve();
  };
  const cancel = clock.after(millis, end);
  signal.addEventListener('abort', end, { once: true });
  return promise;
}

export interface Backoff {
  readonly firstSeconds: number;
  readonly mostSeconds: number;
}

/**
 * The delay after a number of consecutive failures. It doubles with each failure up to `mostSeconds`. Jitter over the
 * upper half keeps keys that failed together from retrying together.
 */
export function backoffSeconds(clock: Clock, { firstSeconds, mostSeconds }: Backoff, failures: number): number {
  const whole = Math.min(mostSeconds, firstSeconds * 2 ** Math.max(0, failures - 1));
  return whole * (0.5 + clock.random() / 2);
}
