import type { Clock } from '../../runtime/clock.ts';
import { Sustained } from '../../runtime/sustained.ts';

export interface WatchedBackup {
  /** For how long it has been seen in its state. */
  readonly seconds: number;
  /** Whether this operator has watched it since before it was complete. Another may be of any age. */
  readonly isFresh: boolean;
}

/**
 * Watches pre-upgrade backups on the monotonic clock of this process. Their `creationTimestamp` is no measure: it is by the clock
 * of the API server.
 */
export class SafeguardWatch {
  readonly #looks: Sustained;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#looks = new Sustained(clock);
  }

  get size(): number {
    return this.#looks.size;
  }

  /** A backup was made just now: it is fresh even if it is complete when it is seen first. */
  made(key: string): void {
    this.#looks.note(key, ['made']);
  }

  see(key: string, uid: string, state: string): WatchedBackup {
    const [inState, fresh] = [`${uid} ${state}`, `${uid} fresh`];
    const lasting = this.#looks.note(key, [inState, fresh, 'made']);
    const hasHeld = (name: string): boolean => (lasting.get(name)?.looks ?? 0) > 1;
    const isFresh = state !== 'good' || hasHeld(fresh) || hasHeld('made');
    this.#looks.startAgain(key, 'made');
    if (!isFresh) this.#looks.startAgain(key, fresh);
    return { seconds: (lasting.get(inState)?.millis ?? 0) / 1000, isFresh };
  }

  forget(key: string): void {
    this.#looks.forget(key);
  }
}
