import type { Scheduler } from './scheduler.ts';

/** What happened, in order. Lines are made only if they are kept. */
export class Trace {
  readonly lines: string[] = [];
  readonly #scheduler: Scheduler;
  readonly #isKept: boolean;

  constructor(scheduler: Scheduler, isKept: boolean) {
    this.#scheduler = scheduler;
    this.#isKept = isKept;
  }

  add(actor: string, what: () => string): void {
    if (this.#isKept)
      this.lines.push(`${(this.#scheduler.now / 1000).toFixed(3).padStart(9)}  ${actor.padEnd(12)} ${what()}`);
  }
}
