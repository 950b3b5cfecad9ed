import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/runtime/clock.ts';

/** A clock that moves only with `advance`. Timers then fire in order, without waiting. */
export class VirtualClock implements Clock {
  readonly #began = Date.parse('2026-01-01T00:00:00Z');
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();
  #millis = 0;
  #suspended = 0;
  /** The value of `random`. */
  chance = 0.5;

  readonly monotonic = (): number => this.#millis;
  readonly now = (): Date => new Date(this.#began + this.#millis + this.#suspended);
  readonly random = (): number => this.chance;

  readonly after = (millis: number, call: () => void): (() => void) => {
    const timer = { at: this.#millis + Math.max(0, millis), call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** The number of pending timers. */
  get planned(): number {
    return this.#timers.size;
  }

  /** Moves the time forward. Pending promises run between two timers. */
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

  /** Simulates a paused process: time passes, and timers fire late, at the next `advance`. */
  freeze(millis: number): void {
    this.#millis += millis;
  }

  /** Simulates a suspended machine: only the wall clock advances. Timers are not late. */
  suspend(millis: number): void {
    this.#suspended += millis;
  }

  #next(until: number): { readonly at: number; readonly call: () => void } | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= until);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Runs pending promises to their end. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}
