import type { Clock } from '../../../../runtime/clock.ts';
import { ConditionDurations } from '../../../../runtime/condition-durations.ts';

export interface WatchedBackup {
  /** How long the backup has been observed in its state. */
  readonly seconds: number;
  /** True if this operator has observed the backup before it was complete. Any other backup may be of any age. */
  readonly isFresh: boolean;
}

/**
 * Measures how long pre-upgrade backups are in a state, on the monotonic clock of this process. `creationTimestamp` is
 * set by the clock of the API server, which may differ.
 */
export class PreUpgradeBackupWatch {
  readonly #looks: ConditionDurations;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#looks = new ConditionDurations(clock);
  }

  get size(): number {
    return this.#looks.size;
  }

  /** Notes that a backup was created: it is fresh even if it is complete when it is first observed. */
  made(key: string): void {
    this.#looks.record(key, ['made']);
  }

  see(key: string, uid: string, state: string): WatchedBackup {
    const [inState, fresh] = [`${uid} ${state}`, `${uid} fresh`];
    const lasting = this.#looks.record(key, [inState, fresh, 'made']);
    const hasHeld = (name: string): boolean => (lasting.get(name)?.observations ?? 0) > 1;
    const isFresh = state !== 'good' || hasHeld(fresh) || hasHeld('made');
    this.#looks.restart(key, 'made');
    if (!isFresh) this.#looks.restart(key, fresh);
    return { seconds: (lasting.get(inState)?.millis ?? 0) / 1000, isFresh };
  }

  forget(key: string): void {
    this.#looks.forget(key);
  }
}
