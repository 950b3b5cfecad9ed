import { type Backoff, backoffSeconds, type Clock } from './clock.ts';
import { Lane } from './lane.ts';
import type { Again } from './outcome.ts';
import { Patience } from './patience.ts';

const defaultBackoff: Backoff = { firstSeconds: 0.1, mostSeconds: 60 };

/** `slow`: keys whose last pass was held up, as by an etcd that does not answer. */
export type LaneName = 'usual' | 'slow';

/**
 * What is to be looked at. A key is in the queue at most once however often it is added, and never with two workers at
 * the same time: one that is added while it is worked on comes back when that is finished.
 */
export class WorkQueue<Key> {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #patience: Patience<Key>;
  readonly #lanes: Readonly<Record<LaneName, Lane<Key>>> = { usual: new Lane(), slow: new Lane() };
  readonly #slow = new Set<Key>();
  readonly #working = new Set<Key>();
  readonly #addedMeanwhile = new Set<Key>();
  readonly #later = new Map<Key, { readonly at: number; readonly callOff: () => void }>();
  readonly #failures = new Map<Key, number>();

  constructor(clock: Clock, backoff: Backoff = defaultBackoff) {
    this.#clock = clock;
    this.#backoff = backoff;
    this.#patience = new Patience(clock);
  }

  /** Has the key looked at now. A wait that is going on keeps its age. */
  add(key: Key): void {
    if (this.#working.has(key)) this.#addedMeanwhile.add(key);
    else if (!this.#lanes.usual.has(key) && !this.#lanes.slow.has(key)) this.#laneOf(key).add(key);
  }

  /** Something happened to the key: it is looked at now, and often for a while if it goes on waiting. */
  wake(key: Key): void {
    this.#patience.restart(key);
    this.add(key);
  }

  /** Adds a key when its pass asks for it. */
  addAgain(key: Key, outcome: Again): void {
    this.#failures.delete(key);
    this.addAfter(key, this.#patience.secondsUntilVisit(key, outcome));
  }

  /** Adds a key after a while. Of several times that are asked for, the earliest counts. */
  addAfter(key: Key, seconds: number): void {
    const at = this.#clock.monotonic() + seconds * 1000;
    const planned = this.#later.get(key);
    if (planned !== undefined && planned.at <= at) return;
    planned?.callOff();
    const callOff = this.#clock.after(seconds * 1000, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, callOff });
  }

  /** Adds a key that failed: after each failure in a row it waits longer. */
  addWithBackoff(key: Key, atLeastSeconds = 0): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.addAfter(key, Math.max(atLeastSeconds, backoffSeconds(this.#clock, this.#backoff, failures)));
  }

  /** Nothing is known of the key any more: should it fail or wait later, that starts small again. */
  forget(key: Key): void {
    this.#failures.delete(key);
    this.#patience.restart(key);
    this.#slow.delete(key);
  }

  /** The key is no longer worked on. Each key that `items` gave has to be finished. */
  finished(key: Key, lane: LaneName = 'usual'): void {
    if (lane === 'slow') this.#slow.add(key);
    else this.#slow.delete(key);
    this.#working.delete(key);
    if (this.#addedMeanwhile.delete(key)) this.add(key);
  }

  /** Gives keys of a lane to one worker, until `signal` aborts. Several workers may ask at the same time. */
  async *items(signal: AbortSignal, lane: LaneName = 'usual'): AsyncGenerator<Key> {
    const { [lane]: keys } = this.#lanes;
    while (!signal.aborted) {
      const taken = keys.take();
      if (taken === undefined) {
        await keys.somethingAdded(signal);
        continue;
      }
      this.#callOff(taken.key); // this visit takes the place of one that was planned
      this.#working.add(taken.key);
      yield taken.key;
    }
    keys.passOn();
  }

  /** How many keys wait, are worked on, and are planned for later. */
  size(): { readonly ready: number; readonly working: number; readonly later: number } {
    const ready = this.#lanes.usual.size + this.#lanes.slow.size;
    return { ready, working: this.#working.size, later: this.#later.size };
  }

  /** How much is kept in memory of keys, in all places. */
  get remembered(): number {
    const { ready, working, later } = this.size();
    const besides = [this.#addedMeanwhile, this.#failures, this.#slow, this.#patience];
    return besides.reduce((sum, { size }) => sum + size, ready + working + later);
  }

  /** Calls off all that is planned, so that no timer keeps the process alive. */
  stop(): void {
    for (const { callOff } of this.#later.values()) callOff();
    this.#later.clear();
  }

  #laneOf(key: Key): Lane<Key> {
    return this.#lanes[this.#slow.has(key) ? 'slow' : 'usual'];
  }

  #callOff(key: Key): void {
    this.#later.get(key)?.callOff();
    this.#later.delete(key);
  }
}
