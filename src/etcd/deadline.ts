import { Code, ConnectError } from '@connectrpc/connect';

/** Measures time-outs. The clock of the runtime satisfies this type. */
export interface CallClock {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Calls `call` once after `millis`; returns a function that cancels it. */
  readonly after: (millis: number, call: () => void) => () => void;
}

const processClock: CallClock = {
  monotonic: () => performance.now(),
  after: (millis, call) => {
    const timer = setTimeout(call, millis);
    return () => clearTimeout(timer);
  },
};

/** The reason of every abort. A new error for each call, with its stack, would cost more than the call. */
const ended = new ConnectError('the call has ended', Code.Canceled);

/** The deadline of a call: its time-out, or the signal of its caller. Disposing it aborts the rest of the call. */
export class CallDeadline {
  readonly millis: number;
  /** The cause, if the call was ended by its time-out or by its caller. */
  ended: 'timed-out' | 'aborted' | undefined;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #clock: CallClock;
  #until = Number.POSITIVE_INFINITY;
  readonly #abort = (): void => this.#end('aborted');

  constructor(millis: number, caller: AbortSignal | undefined, clock: CallClock = processClock) {
    this.millis = millis;
    this.#clock = clock;
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
    this.#until = this.#clock.monotonic() + this.millis;
    const cancel = this.#clock.after(this.millis, () => this.#end('timed-out'));
    try {
      return await work();
    } finally {
      cancel();
    }
  }

  /** Throws if the deadline has passed, also after a pause of the process, before the timer fires. */
  confirm(): void {
    if (this.#clock.monotonic() > this.#until) this.#end('timed-out');
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
