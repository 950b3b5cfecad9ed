import type { Pod, Stored } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ConditionDurations } from '../../runtime/condition-durations.ts';
import type { KeyedMemory } from '../../runtime/memories.ts';
import { graceOf } from '../cluster/observe/readiness.ts';

/** The wait for a terminating pod after its grace period. A pod on a lost node never reports its end. */
const overdueMillis = 60_000;

/**
 * Measures how long pods have been terminating, on the monotonic clock of this process. `deletionTimestamp` is set by
 * the clock of the API server, which may differ.
 */
export class TerminatingPods implements KeyedMemory {
  readonly #seen: ConditionDurations;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#seen = new ConditionDurations(clock);
  }

  get size(): number {
    return this.#seen.size;
  }

  forget(key: string): void {
    this.#seen.forget(key);
  }

  /** Notes the pods that a pass observes. Returns the UIDs of pods that are overdue. */
  overdue(key: string, pods: readonly Stored<Pod>[]): ReadonlySet<string> {
    const graces = new Map(pods.map((pod) => [pod.metadata.uid, graceOf(pod)]));
    const terminating = [...graces].flatMap(([uid, grace]) => (grace === undefined ? [] : [uid]));
    const lasting = this.#seen.record(key, terminating);
    if (terminating.length === 0) this.#seen.forget(key);
    return new Set(terminating.filter((uid) => isOverdue(lasting.get(uid)?.millis, graces.get(uid))));
  }
}

const isOverdue = (millis = 0, grace = 0): boolean => millis > grace + overdueMillis;
