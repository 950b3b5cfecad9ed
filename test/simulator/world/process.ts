import type { Clock } from '../../../src/runtime/clock.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

const began = Date.parse('2026-01-01T00:00:00Z');

/** The wall-clock time of the world, which no clock of a machine has to show. */
export const worldTime = (scheduler: Scheduler): Date => new Date(began + scheduler.now);

/**
 * A process of the operator: its clock, and the gate that all answers to it pass. A killed process runs no more code. A
 * suspended process runs its timers and gets its answers when it resumes.
 */
export class Process implements Clock {
  readonly name: string;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #held: (() => void)[] = [];
  #isSuspended = false;
  #wallOffset = 0;
  #lag = 0;
  isDead = false;

  constructor(name: string, scheduler: Scheduler) {
    this.name = name;
    this.#scheduler = scheduler;
    this.#random = scheduler.random.fork();
  }

  readonly monotonic = (): number => this.#scheduler.now - this.#lag;
  readonly now = (): Date => new Date(began + this.#scheduler.now + this.#wallOffset);
  readonly random = (): number => this.#random.next();
  readonly after = (millis: number, call: () => void): (() => void) =>
    this.#scheduler.after(millis, () => this.run(call));

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Runs code of this process: a timer, or the answer to a request. */
  run(call: () => void): void {
    if (this.isDead) return;
    if (this.#isSuspended) this.#held.push(call);
    else call();
  }

  kill(): void {
    this.isDead = true;
    this.#held.length = 0;
  }

  /** Suspends the process. With its machine, the monotonic clock stops too. */
  suspend(millis: number, { withMachine }: { readonly withMachine: boolean }): void {
    if (this.isDead || this.#isSuspended) return;
    this.#isSuspended = true;
    this.#scheduler.after(millis, () => {
      this.#isSuspended = false;
      if (withMachine) this.#lag += millis;
      for (const call of this.#held.splice(0)) this.run(call);
    });
  }

  /** Sets the wall clock forward or back. */
  jump(millis: number): void {
    this.#wallOffset += millis;
  }
}
