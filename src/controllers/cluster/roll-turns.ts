import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import type { Reason } from '../../core/reasons.ts';
import type { Clock } from '../../runtime/clock.ts';

/** A roll that has taken no step for so long gives its turn away: it may wait for a user. */
const expiryMillis = 600_000;

/**
 * Limits how many clusters roll at once. A thousand upgrades that are ordered at once then end one after the other, and
 * a bad image stops at the first clusters. Healing and scaling take no turn. One instance serves all controllers.
 */
export class RollTurns {
  readonly limit: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The time of the last step of each cluster that rolls. */
  readonly #rolling = new Map<string, number>();
  /** What queues each waiting cluster, in order of arrival. */
  readonly #waiting = new Map<string, () => void>();

  constructor(limit: number, clock: Pick<Clock, 'monotonic'>) {
    this.limit = limit;
    this.#clock = clock;
  }

  get size(): number {
    return this.#rolling.size + this.#waiting.size;
  }

  /** True if the cluster may roll now. Otherwise `wake` is called when it is its turn. A begun roll always goes on. */
  take(key: string, { hasBegun, wake }: { readonly hasBegun: boolean; readonly wake: () => void }): boolean {
    this.#expire();
    const isGranted = hasBegun || this.#rolling.has(key) || this.#rolling.size < this.limit;
    if (isGranted) this.#rolling.set(key, this.#clock.monotonic());
    if (isGranted) this.#waiting.delete(key);
    else if (!this.#waiting.has(key)) this.#waiting.set(key, wake);
    return isGranted;
  }

  /** Ends the turn of a cluster, also of a deleted one. */
  forget(key: string): void {
    this.#waiting.delete(key);
    if (this.#rolling.delete(key)) this.#wakeNext();
  }

  #expire(): void {
    const oldest = this.#clock.monotonic() - expiryMillis;
    for (const [key, at] of this.#rolling) if (at < oldest) this.forget(key);
  }

  #wakeNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#rolling.size >= this.limit) return;
    const [key, wake] = next;
    this.#waiting.delete(key); // it takes its turn in its next pass, or waits again
    wake();
  }
}

/**
 * True if a verdict rolls a change out: it disrupts a member, or withdraws it from the client Service before. Labels are
 * patched on running pods.
 */
export function isRoll(verdict: Verdict): boolean {
  if (verdict.is === 'settled' || !reasons.has(verdict.reason)) return false;
  if (verdict.is === 'wait') return verdict.withdraws !== undefined;
  return verdict.steps.some(({ kind }) => kind !== 'relabel-member-pod');
}

const reasons: ReadonlySet<Reason> = new Set(['Rolling', 'Upgrading', 'BackupFirst']);

/** True if members already differ in version or template. */
export const hasBegunToRoll = ({ memberPods }: Pick<ClusterWorld, 'memberPods'>): boolean =>
  new Set(memberPods.flatMap(({ image, template }) => (image === '' ? [] : `${image} ${template}`))).size > 1;
