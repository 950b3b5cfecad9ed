/** Keys that wait for a worker, in the order in which they were added, so that no key starves another. */
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

  /** The next key, if there is one. It is taken in this very moment, so that no other worker gets it. */
  take(): { readonly key: Key } | undefined {
    const next = this.#ready.values().next();
    if (next.done === true) return undefined;
    this.#ready.delete(next.value);
    return { key: next.value };
  }

  /** A worker that was woken for a key but stops must not be the only one that knew of it. */
  passOn(): void {
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
