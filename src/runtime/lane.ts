/** Keys that are ready for a worker, first in, first out. */
export class Lane<Key> {
  readonly #ready = new Set<Key>();
  readonly #takers: (() => void)[] = [];

  get size(): number {
    return this.#ready.size;
  }

  has(key: Key): boolean {
    return this.#ready.has(key);
  }

  add(key: Key): void {
    this.#ready.add(key);
    this.#takers.shift()?.();
  }

  /** Removes and returns the next key, synchronously, so that no second worker gets it. */
  take(): { readonly key: Key } | undefined {
    const next = this.#ready.values().next();
    if (next.done === true) return undefined;
    this.#ready.delete(next.value);
    return { key: next.value };
  }

  /** Wakes another worker if keys are ready. A stopping worker calls this: it may have been woken for a key. */
  wakeNext(): void {
    if (this.#ready.size > 0) this.#takers.shift()?.();
  }

  somethingAdded(signal: AbortSignal): Promise<void> {
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
