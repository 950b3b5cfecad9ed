/** Time and chance, as an argument: a test brings its own, and then hours pass in milliseconds. */
export interface Clock {
  /** Milliseconds of a clock that nobody sets: for measuring how long something takes. It stands still while a machine is suspended. */
  readonly monotonic: () => number;
  /** The time of day, which may jump: for telling people, and for noticing that the machine was suspended. */
  readonly now: () => Date;
  /** Calls once, later; returns how to call it off. After more than 24 days it may call early. */
  readonly after: (millis: number, call: () => void) => () => void;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** Node calls at once what is to be called later than this. */
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

/** Waits; returns early, and without complaint, when `signal` aborts. */
export function pause(clock: Clock, millis: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    callOff();
    signal.removeEventListener('abort', end);
    resolve();
  };
  const callOff = clock.after(millis, end);
  signal.addEventListener('abort', end, { once: true });
  return promise;
}

export interface Backoff {
  readonly firstSeconds: number;
  readonly mostSeconds: number;
}

/**
 * How long to wait after so many failures in a row: twice as long each time, up to a limit, and then somewhere in the
 * upper half of that, so that those who failed together do not come back together.
 */
export function backoffSeconds(clock: Clock, { firstSeconds, mostSeconds }: Backoff, failures: number): number {
  const whole = Math.min(mostSeconds, firstSeconds * 2 ** Math.max(0, failures - 1));
  return whole * (0.5 + clock.random() / 2);
}
