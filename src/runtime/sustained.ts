import type { Clock } from './clock.ts';

/** How long something has held without interruption, by the clock of this process, and in how many looks in a row. */
export interface Lasting {
  readonly millis: number;
  readonly looks: number;
}

/**
 * Passes are at most a minute apart (`work-queue.ts`), so no pause between two looks counts for more. A pass itself may take minutes
 * where an API server or a webhook is slow. After a longer time counting begins anew: nothing is known of that time, as while a
 * spec was refused.
 */
const limits = { counted: 60_000, betweenLooks: 300_000 } as const;

interface Round {
  /** When there was something to see. */
  readonly seenAt: number;
  /** The same, or when a look saw nothing. */
  readonly at: number;
  readonly lasting: ReadonlyMap<string, Lasting>;
}

/**
 * Counts how long conditions have held while this process watched. Times that other machines have written down are no measure:
 * their clocks may be wrong, and so may ours. Only the monotonic clock counts, from the first look on.
 */
export class Sustained {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rounds = new Map<string, Round>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#rounds.size;
  }

  /** Notes what holds now. What is missing from it begins anew when it holds again. */
  note(key: string, holding: Iterable<string>): ReadonlyMap<string, Lasting> {
    const at = this.#clock.monotonic();
    const known = this.#rounds.get(key);
    const before = known !== undefined && at - known.seenAt > limits.betweenLooks ? undefined : known;
    const passed = before === undefined ? 0 : Math.min(at - before.at, limits.counted);
    const lastingSince = (name: string): Lasting => {
      const { millis, looks } = before?.lasting.get(name) ?? { millis: -passed, looks: 0 };
      return { millis: millis + passed, looks: looks + 1 };
    };
    const lasting = new Map([...holding].map((name) => [name, lastingSince(name)]));
    this.#rounds.set(key, { seenAt: at, at, lasting });
    return lasting;
  }

  /** Nothing could be seen this time. What held before goes on if it is seen again soon; the time since the last look does not count. */
  skip(key: string): void {
    const before = this.#rounds.get(key);
    if (before !== undefined) this.#rounds.set(key, { ...before, at: this.#clock.monotonic() });
  }

  /** One thing did not hold after all, although it was noted: it begins anew. */
  startAgain(key: string, name: string): void {
    const before = this.#rounds.get(key);
    if (before === undefined) return;
    const lasting = new Map([...before.lasting].filter(([each]) => each !== name));
    this.#rounds.set(key, { ...before, lasting });
  }

  /** The key is gone for good. */
  forget(key: string): void {
    this.#rounds.delete(key);
  }
}
