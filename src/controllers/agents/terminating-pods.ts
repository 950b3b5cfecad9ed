import type { Pod, Stored } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Memory } from '../../runtime/memories.ts';
import { Sustained } from '../../runtime/sustained.ts';
import { graceOf } from '../cluster/readiness.ts';

/** How long after its grace period a terminating pod is no longer waited for: its node may be lost, and never report its end. */
const overdueMillis = 60_000;

/**
 * Counts how long pods have been terminating, on the monotonic clock of this process. `deletionTimestamp` is no measure: it is by
 * the clock of the API server.
 */
export class TerminatingPods implements Memory {
  readonly #seen: Sustained;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#seen = new Sustained(clock);
  }

  get size(): number {
    return this.#seen.size;
  }

  forget(key: string): void {
    this.#seen.forget(key);
  }

  /** Notes the pods that the pass of a key sees. Returns the UIDs of those that should have been gone for a while. */
  overdue(key: string, pods: readonly Stored<Pod>[]): ReadonlySet<string> {
    const graces = new Map(pods.map((pod) => [pod.metadata.uid, graceOf(pod)]));
    const terminating = [...graces].flatMap(([uid, grace]) => (grace === undefined ? [] : [uid]));
    const lasting = this.#seen.note(key, terminating);
    if (terminating.length === 0) this.#seen.forget(key);
    return new Set(terminating.filter((uid) => isOverdue(lasting.get(uid)?.millis, graces.get(uid))));
  }
}

const isOverdue = (millis = 0, grace = 0): boolean => millis > grace + overdueMillis;
