import { ApiFailure } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { WatchEvent } from '../../../src/kube/watch-events.ts';
import type { Process } from '../world/process.ts';
import type { Scheduler } from '../world/scheduler.ts';
import type { ApiServer, ObjectChange } from './api-server.ts';
import type { FaultSource } from './faults.ts';
import { expired, isSelected, type KindName, type ObjectSelection, type SimulatedObject } from './objects.ts';

type Event = WatchEvent<KubeObject>;
type Ending = { readonly failure: Error | undefined };

export interface WatchParts {
  readonly api: ApiServer;
  readonly scheduler: Scheduler;
  readonly process: Process;
  readonly faults: FaultSource;
}

export interface WatchRequest {
  readonly kind: KindName;
  readonly selection: ObjectSelection;
  readonly from: number;
  readonly lastsMillis: number;
  readonly signal: AbortSignal | undefined;
}

/** One watch: the events after a resourceVersion, in order, each as late as its fate wants. */
export class WatchStream implements AsyncIterable<Event>, AsyncIterator<Event> {
  readonly #parts: WatchParts;
  readonly #request: WatchRequest;
  readonly #ready: Event[] = [];
  readonly #stops: (() => void)[] = [];
  #waiting: ((ready: () => IteratorResult<Event>) => void) | undefined;
  #ending: Ending | undefined;
  #deliverAt = 0;
  /** True once an event is not delivered: no later event may be, or it would be missed for ever. */
  #isEnding = false;

  constructor(parts: WatchParts, request: WatchRequest) {
    this.#parts = parts;
    this.#request = request;
    const { api, scheduler, process } = parts;
    const { kind, from, lastsMillis, signal } = request;
    if (parts.faults.isCompacted()) this.#endLater(10, expired());
    for (const change of api.collection(kind).history) if (change.version > from) this.#see(change);
    this.#stops.push(api.onChange(kind, (change) => this.#see(change)));
    this.#stops.push(scheduler.after(lastsMillis, () => process.run(() => this.#end(undefined))));
    signal?.addEventListener('abort', () => this.#end(new Error('aborted')), { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event>> {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Event>>();
    this.#waiting = (ready) => {
      try {
        resolve(ready());
      } catch (thrown) {
        reject(thrown);
      }
    };
    this.#flush();
    return promise;
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#end(undefined);
    return { done: true, value: undefined };
  }

  #see(change: ObjectChange): void {
    if (this.#isEnding || this.#ending !== undefined) return;
    const event = eventFor(change, this.#request.selection);
    if (event === undefined) return;
    const { scheduler, process, faults } = this.#parts;
    const fate = faults.ofWatchEvent(this.#request.kind.plural);
    if (fate.is === 'ended') return this.#endLater(5, endOf[fate.by]());
    this.#deliverAt = Math.max(this.#deliverAt, scheduler.now + fate.millis);
    scheduler.after(this.#deliverAt - scheduler.now, () =>
      process.run(() => {
        if (this.#ending === undefined) this.#ready.push(event);
        this.#flush();
      }),
    );
  }

  #endLater(millis: number, failure: Error | undefined): void {
    this.#isEnding = true;
    this.#parts.scheduler.after(millis, () => this.#parts.process.run(() => this.#end(failure)));
  }

  #end(failure: Error | undefined): void {
    this.#ending ??= { failure };
    for (const stop of this.#stops.splice(0)) stop();
    this.#flush();
  }

  #flush(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const event = this.#ready.shift();
    if (event === undefined && this.#ending === undefined) return;
    this.#waiting = undefined;
    const ending = this.#ending;
    waiting(() => {
      if (event !== undefined) return { done: false, value: event };
      if (ending?.failure !== undefined) throw ending.failure;
      return { done: true, value: undefined };
    });
  }
}

const endOf = {
  server: (): Error | undefined => undefined,
  broken: (): Error | undefined => new ApiFailure('unreachable', 'watch: the connection broke'),
  compacted: (): Error | undefined => expired(),
};

/** An object that is no longer selected counts as deleted, and one that is selected now as added. */
function eventFor({ type, object, old }: ObjectChange, selection: ObjectSelection): Event | undefined {
  const isIn = isSelected(object, selection);
  const wasIn = old !== undefined && isSelected(old, selection);
  const as = (of: 'ADDED' | 'MODIFIED' | 'DELETED', shown: SimulatedObject): Event => ({ type: of, object: shown });
  if (type === 'DELETED') return isIn ? as('DELETED', object) : undefined;
  if (isIn) return as(wasIn ? 'MODIFIED' : 'ADDED', object);
  return wasIn ? as('DELETED', object) : undefined;
}
