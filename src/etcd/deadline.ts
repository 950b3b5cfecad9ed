import { Code, ConnectError } from '@connectrpc/connect';

/** The reason of every abort. A new error for each call, with its stack, would cost more than the call. */
const ended = new ConnectError('the call has ended', Code.Canceled);

/** The deadline of a call: its time-out, or the signal of its caller. Disposing it aborts the rest of the call. */
export class CallDeadline {
  readonly millis: number;
  /** The cause, if the call was ended by its time-out or by its caller. */
  ended: 'timed-out' | 'aborted' | undefined;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #until = Number.POSITIVE_INFINITY;
  readonly #abort = (): void => this.#end('aborted');

  constructor(millis: number, caller: AbortSignal | undefined) {
    this.millis = millis;
    this.#caller = caller;
    if (caller?.aborted === true) this.#abort();
    caller?.addEventListener('abort', this.#abort);
  }

  /** Aborts the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs work under the time-out. Time between two such runs does not count. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    this.#until = performance.now() + this.millis;
    const timer = setTimeout(() => this.#end('timed-out'), this.millis);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Throws if the deadline has passed, also after a pause of the process, before the timer fires. */
  confirm(): void {
    if (performance.now() > this.#until) this.#end('timed-out');
    if (this.ended !== undefined) throw new ConnectError('the deadline of this call has passed', Code.Canceled);
  }

  [Symbol.dispose](): void {
    this.#caller?.removeEventListener('abort', this.#abort);
    this.#controller.abort(ended);
  }

  #end(why: 'timed-out' | 'aborted'): void {
    this.ended ??= why;
    this.#controller.abort(ended);
  }
}
