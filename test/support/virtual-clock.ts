import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/runtime/clock.ts';

/** A clock that stands still until it is told to go on: then all that falls due happens in order, without waiting. */
export class VirtualClock implements Clock {
  readonly #began = Date.parse('2026-01-01T00:00:00Z');
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();
  #millis = 0;
  #suspended = 0;
  /** What `random` gives. */
  chance = 0.5;

  readonly monotonic = (): number => this.#millis;
  readonly now = (): Date => new Date(this.#began + this.#millis + this.#suspended);
  readonly random = (): number => this.chance;

  readonly after = (millis: number, call: () => void): (() => void) => {
    const timer = { at: this.#millis + Math.max(0, millis), call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How many things are planned. */
  get planned(): number {
    return this.#timers.size;
  }

  /** Lets time pass; between two timers everything that waits for a promise gets its turn. */
  async advance(millis: number): Promise<void> {
    const until = this.#millis + millis;
    await settled();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#timers.delete(next);
      this.#millis = Math.max(this.#millis, next.at);
      next.call();
      await settled();
    }
    this.#millis = until;
  }

  /** The process was paused: time passed, and nothing happened in it. Timers come late, with the next `advance`. */
  freeze(millis: number): void {
    this.#millis += millis;
  }

  /** The machine was suspended: only the wall clock shows the time that passed. Timers do not come late. */
  suspend(millis: number): void {
    this.#suspended += millis;
  }

  #next(until: number): { readonly at: number; readonly call: () => void } | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= until);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Everything that only waits for promises has gone as far as it can. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}
