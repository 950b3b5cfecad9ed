import { type Backoff, backoffSeconds, type Clock } from './clock.ts';
import { Lane } from './lane.ts';
import type { Requeue } from './outcome.ts';
import { WaitBackoff } from './wait-backoff.ts';

const defaultBackoff: Backoff = { firstSeconds: 0.1, mostSeconds: 60 };

/** `slow`: keys with a slow last pass, for example because etcd did not answer. */
export type LaneName = 'usual' | 'slow';

/**
 * The keys to reconcile. The queue holds a key at most once, and at most one worker has it. A key added during its own
 * pass is queued again after that pass.
 */
export class WorkQueue<Key> {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #waitBackoff: WaitBackoff<Key>;
  readonly #lanes: Readonly<Record<LaneName, Lane<Key>>> = { usual: new Lane(), slow: new Lane() };
  readonly #slow = new Set<Key>();
  readonly #working = new Set<Key>();
  readonly #addedMeanwhile = new Set<Key>();
  readonly #later = new Map<Key, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<Key, number>();

  constructor(clock: Clock, backoff: Backoff = defaultBackoff) {
    this.#clock = clock;
    this.#backoff = backoff;
    this.#waitBackoff = new WaitBackoff(clock);
  }

  /** Queues the key now. The age of its current wait is kept. */
  add(key: Key): void {
    if (this.#working.has(key)) this.#addedMeanwhile.add(key);
    else if (!this.#lanes.usual.has(key) && !this.#lanes.slow.has(key)) this.#laneOf(key).add(key);
  }

  /** Queues the key after an event, and resets its wait backoff. */
  wake(key: Key): void {
    this.#waitBackoff.restart(key);
    this.add(key);
  }

  /** Queues the key when its pass asks for it. */
  requeue(key: Key, outcome: Requeue): void {
    this.#failures.delete(key);
    this.addAfter(key, this.#waitBackoff.secondsUntilRequeue(key, outcome));
  }

  /** Queues the key after a delay. The earliest of several requested times counts. */
  addAfter(key: Key, seconds: number): void {
    const at = this.#clock.monotonic() + seconds * 1000;
    const planned = this.#later.get(key);
    if (planned !== undefined && planned.at <= at) return;
    planned?.cancel();
    const cancel = this.#clock.after(seconds * 1000, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /** Queues the key after a failure. The delay grows with each consecutive failure. */
  addWithBackoff(key: Key, atLeastSeconds = 0): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.addAfter(key, Math.max(atLeastSeconds, backoffSeconds(this.#clock, this.#backoff, failures)));
  }

  /** Drops the failure count, the wait backoff and the lane of a key. */
  forget(key: Key): void {
    this.#failures.delete(key);
    this.#waitBackoff.restart(key);
    this.#slow.delete(key);
  }

  /** Marks the end of a pass. The consumer of `items` must call this for each key. */
  finished(key: Key, lane: LaneName = 'usual'): void {
    if (lane === 'slow') this.#slow.add(key);
    else this.#slow.delete(key);
    this.#working.delete(key);
    if (this.#addedMeanwhile.delete(key)) this.add(key);
  }

  /** Yields the keys of a lane to one worker until `signal` aborts. Several workers may iterate at once. */
  async *items(signal: AbortSignal, lane: LaneName = 'usual'): AsyncGenerator<Key> {
    const { [lane]: keys } = this.#lanes;
    while (!signal.aborted) {
      const taken = keys.take();
      if (taken === undefined) {
        await keys.somethingAdded(signal);
        continue;
      }
      this.#cancelPlanned(taken.key); // this pass replaces the planned one
      this.#working.add(taken.key);
      yield taken.key;
    }
    keys.wakeNext();
  }

  /** The number of keys that are ready, in a pass, and planned for later. */
  size(): { readonly ready: number; readonly working: number; readonly later: number } {
    const ready = this.#lanes.usual.size + this.#lanes.slow.size;
    return { ready, working: this.#working.size, later: this.#later.size };
  }

  /** The number of entries kept in memory, over all maps. */
  get remembered(): number {
    const { ready, working, later } = this.size();
    const others = [this.#addedMeanwhile, this.#failures, this.#slow, this.#waitBackoff];
    return others.reduce((sum, { size }) => sum + size, ready + working + later);
  }

  /** Cancels all planned keys, so that no timer keeps the process alive. */
  stop(): void {
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
  }

  #laneOf(key: Key): Lane<Key> {
    return this.#lanes[this.#slow.has(key) ? 'slow' : 'usual'];
  }

  #cancelPlanned(key: Key): void {
    this.#later.get(key)?.cancel();
    this.#later.delete(key);
  }
}
