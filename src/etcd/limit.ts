import { Code, ConnectError } from '@connectrpc/connect';

/** What ends a call that does not end by itself: its time, or its caller. Disposing of it ends whatever is left of the call. */
export class CallLimit {
  readonly millis: number;
  /** Why the call was ended, if one of the two ended it. */
  ended: 'timed-out' | 'called-off' | undefined;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #until = Number.POSITIVE_INFINITY;
  readonly #callOff = (): void => this.#end('called-off');

  constructor(millis: number, caller: AbortSignal | undefined) {
    this.millis = millis;
    this.#caller = caller;
    if (caller?.aborted === true) this.#callOff();
    caller?.addEventListener('abort', this.#callOff);
  }

  /** For the call itself: tells it to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs work for which the time counts; between two such pieces of work it does not. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    this.#until = performance.now() + this.millis;
    const timer = setTimeout(() => this.#end('timed-out'), this.millis);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Fails once the time is over. After a pause of the process that is known before the timer has fired. */
  confirm(): void {
    if (performance.now() > this.#until) this.#end('timed-out');
    if (this.ended !== undefined) throw new ConnectError('the time of this call is over', Code.Canceled);
  }

  [Symbol.dispose](): void {
    this.#caller?.removeEventListener('abort', this.#callOff);
    this.#controller.abort();
  }

  #end(why: 'timed-out' | 'called-off'): void {
    this.ended ??= why;
    this.#controller.abort();
  }
}
