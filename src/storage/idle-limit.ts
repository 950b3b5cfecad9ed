import type { Body } from './store.ts';

/** Ends a call on which the other side has shown no sign of life for a while, however long the whole may take. */
export class IdleLimit implements Disposable {
  readonly signal: AbortSignal;
  readonly #ended = new AbortController();
  readonly #outer: AbortSignal | undefined;
  /** One for all parts of a body: there are many. */
  readonly #timer: NodeJS.Timeout;
  #isWaiting = true;
  #timedOut = false;
  #sourceFailure: { readonly thrown: unknown } | undefined;

  constructor(millis: number, outer?: AbortSignal) {
    this.#outer = outer;
    this.signal = outer === undefined ? this.#ended.signal : AbortSignal.any([outer, this.#ended.signal]);
    this.#timer = setTimeout(() => this.#end(), millis);
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  get calledOff(): boolean {
    return this.#outer?.aborted === true;
  }

  /** What the body that was being sent threw; then the store is not to blame. */
  get sourceFailure(): { readonly thrown: unknown } | undefined {
    return this.#sourceFailure;
  }

  /** From now on it is the other side's turn. */
  wait(): void {
    this.#isWaiting = true;
    this.#timer.ref().refresh();
  }

  /** From now on it is not. */
  rest(): void {
    this.#isWaiting = false;
    this.#timer.unref(); // it goes on, and finds that nobody waits
  }

  #end(): void {
    if (!this.#isWaiting) return;
    this.#timedOut = true;
    this.#ended.abort();
  }

  /** Passes on what is to be sent; the time its source takes is not the store's. */
  async *feeding(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
    const parts = body[Symbol.asyncIterator]();
    try {
      for (let next = await this.#nextOf(parts); next.done !== true; next = await this.#nextOf(parts)) {
        this.wait();
        yield next.value;
      }
    } finally {
      this.wait();
      await parts.return?.();
    }
  }

  /** Only what fails in here is the source's fault: a library that gives up throws its own error into whom it reads from. */
  async #nextOf(parts: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    this.rest();
    try {
      return await parts.next();
    } catch (thrown) {
      this.#sourceFailure = { thrown };
      throw thrown;
    }
  }

  [Symbol.dispose](): void {
    this.rest();
    clearTimeout(this.#timer);
  }
}
