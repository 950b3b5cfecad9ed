import type { ByteStream } from './store.ts';

/** Aborts a call to a store if the store is idle for too long. The whole call may take any time. */
export class IdleLimit implements Disposable {
  readonly signal: AbortSignal;
  readonly #ended = new AbortController();
  readonly #outer: AbortSignal | undefined;
  /** One timer for all parts of a body, because there are many. */
  readonly #timer: NodeJS.Timeout;
  #isWaiting = true;
  #hasTimedOut = false;
  #sourceFailure: { readonly thrown: unknown } | undefined;

  constructor(millis: number, outer?: AbortSignal) {
    this.#outer = outer;
    this.signal = outer === undefined ? this.#ended.signal : AbortSignal.any([outer, this.#ended.signal]);
    this.#timer = setTimeout(() => this.#end(), millis);
  }

  /** True if the store was idle for too long. */
  get hasTimedOut(): boolean {
    return this.#hasTimedOut;
  }

  /** True if the caller of the store has aborted the call. */
  get isAborted(): boolean {
    return this.#outer?.aborted === true;
  }

  /** The error of the body that was being sent: not a failure of the store. */
  get sourceFailure(): { readonly thrown: unknown } | undefined {
    return this.#sourceFailure;
  }

  /** Starts the timer: the store is expected to act. */
  resume(): void {
    this.#isWaiting = true;
    this.#timer.ref().refresh();
  }

  /** Stops the timer: the store is not expected to act. */
  pause(): void {
    this.#isWaiting = false;
    this.#timer.unref(); // the timer may fire, but is ignored
  }

  #end(): void {
    if (!this.#isWaiting) return;
    this.#hasTimedOut = true;
    this.#ended.abort();
  }

  /** Passes a body on to the store. The time that its source takes does not count. */
  async *feeding(body: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
    const parts = body[Symbol.asyncIterator]();
    try {
      for (let next = await this.#nextOf(parts); next.done !== true; next = await this.#nextOf(parts)) {
        this.resume();
        yield next.value;
      }
    } finally {
      this.resume();
      await parts.return?.();
    }
  }

  /** Records errors of the source only: a library that gives up throws its own error into the generator. */
  async #nextOf(parts: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    this.pause();
    try {
      return await parts.next();
    } catch (thrown) {
      this.#sourceFailure = { thrown };
      throw thrown;
    }
  }

  [Symbol.dispose](): void {
    this.pause();
    clearTimeout(this.#timer);
  }
}
