import { type Backoff, backoffSeconds, type Clock } from './clock.ts';

const defaultBackoff: Backoff = { firstSeconds: 0.1, mostSeconds: 60 };

/**
 * What is to be looked at. A key is in the queue at most once however often it is added, and never with two workers at
 * the same time: one that is added while it is worked on comes back when that is finished.
 */
export class WorkQueue<Key> {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  /** In the order in which they were added, so that no key starves another. */
  readonly #ready = new Set<Key>();
  readonly #working = new Set<Key>();
  readonly #addedMeanwhile = new Set<Key>();
  readonly #later = new Map<Key, { readonly at: number; readonly callOff: () => void }>();
  readonly #failures = new Map<Key, number>();
  readonly #takers: (() => void)[] = [];

  constructor(clock: Clock, backoff: Backoff = defaultBackoff) {
    this.#clock = clock;
    this.#backoff = backoff;
  }

  add(key: Key): void {
    if (this.#working.has(key)) {
      this.#addedMeanwhile.add(key);
      return;
    }
    this.#ready.add(key);
    this.#takers.shift()?.();
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

  /** The key did not fail: should it do so later, the waiting starts small again. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  /** The key is no longer worked on. Each key that `items` gave has to be finished. */
  finished(key: Key): void {
    this.#working.delete(key);
    if (this.#addedMeanwhile.delete(key)) this.add(key);
  }

  /** Gives keys to one worker, until `signal` aborts. Several workers may ask at the same time. */
  async *items(signal: AbortSignal): AsyncGenerator<Key> {
    while (!signal.aborted) {
      const next = this.#ready.values().next();
      if (next.done) {
        await this.#somethingAdded(signal);
        continue;
      }
      this.#ready.delete(next.value);
      this.#working.add(next.value);
      yield next.value;
    }
    // Whoever was woken for a key but stops here must not be the only one who knew of it.
    if (this.#ready.size > 0) this.#takers.shift()?.();
  }

  /** How many keys wait, are worked on, and are planned for later. */
  size(): { readonly ready: number; readonly working: number; readonly later: number } {
    return { ready: this.#ready.size, working: this.#working.size, later: this.#later.size };
  }

  /** Calls off all that is planned, so that no timer keeps the process alive. */
  stop(): void {
    for (const { callOff } of this.#later.values()) callOff();
    this.#later.clear();
  }

  #somethingAdded(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      signal.removeEventListener('abort', wake);
      const place = this.#takers.indexOf(wake);
      if (place >= 0) this.#takers.splice(place, 1);
      resolve();
    };
    this.#takers.push(wake);
    signal.addEventListener('abort', wake, { once: true });
    return promise;
  }
}
