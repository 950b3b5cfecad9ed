import type { Clock } from './clock.ts';

/** The time for which a condition has held, by the monotonic clock, and the number of consecutive observations. */
export interface HeldDuration {
  readonly millis: number;
  readonly observations: number;
}

/**
 * Passes are at most a minute apart (`work-queue.ts`), so a gap between two observations counts for a minute at most. A
 * pass itself may take minutes if the API server or a webhook is slow. A gap of more than five minutes, for example
 * while the spec was invalid, resets all durations.
 */
const limits = { countedMillis: 60_000, gapMillis: 300_000 } as const;

interface Round {
  /** The time of the last successful observation. */
  readonly observedAt: number;
  /** The time of the last attempt, successful or not. */
  readonly at: number;
  readonly lasting: ReadonlyMap<string, HeldDuration>;
}

/**
 * Measures how long conditions have held while this process observed them. Timestamps in objects are not used, because
 * the clock of another machine may be wrong. Only the monotonic clock counts, from the first observation.
 */
export class ConditionDurations {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rounds = new Map<string, Round>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#rounds.size;
  }

  /** Records the conditions that hold now. A missing condition starts from zero when it holds again. */
  record(key: string, holding: Iterable<string>): ReadonlyMap<string, HeldDuration> {
    const at = this.#clock.monotonic();
    const known = this.#rounds.get(key);
    const before = known !== undefined && at - known.observedAt > limits.gapMillis ? undefined : known;
    const passed = before === undefined ? 0 : Math.min(at - before.at, limits.countedMillis);
    const lastingSince = (name: string): HeldDuration => {
      const { millis, observations } = before?.lasting.get(name) ?? { millis: -passed, observations: 0 };
      return { millis: millis + passed, observations: observations + 1 };
    };
    const lasting = new Map([...holding].map((name) => [name, lastingSince(name)]));
    this.#rounds.set(key, { observedAt: at, at, lasting });
    return lasting;
  }

  /** Records a failed observation. Durations are kept if an observation follows soon; the gap itself is not counted. */
  skip(key: string): void {
    const before = this.#rounds.get(key);
    if (before !== undefined) this.#rounds.set(key, { ...before, at: this.#clock.monotonic() });
  }

  /** Resets one condition that was recorded, but did not hold. */
  restart(key: string, name: string): void {
    const before = this.#rounds.get(key);
    if (before === undefined) return;
    const lasting = new Map([...before.lasting].filter(([each]) => each !== name));
    this.#rounds.set(key, { ...before, lasting });
  }

  /** Drops a deleted key. */
  forget(key: string): void {
    this.#rounds.delete(key);
  }
}
