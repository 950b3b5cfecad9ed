import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import type { Failure } from '../std/failure.ts';
import type { Clock } from './clock.ts';
import { EventRecorder } from './events.ts';
import { Expectations, type ExpectationsOptions } from './expectations.ts';
import { fencedKubeClient } from './fenced-kube-client.ts';
import type { Leadership } from './lease.ts';
import { type Runnable, runTogether } from './manager.ts';
import { forgetWhenOver, Memories } from './memories.ts';
import { type Reflector, whenSynced } from './reflector.ts';
import { isStatusOnly, type Store } from './store.ts';
import { WorkQueue } from './work-queue.ts';
import { type Reconcile, type WorkerOptions, workers } from './worker.ts';

export interface ControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** True while this process holds the lease; undefined without leader election. */
  readonly leads: Leadership['holds'] | undefined;
  /** The name of this process, as the instance in Events. */
  readonly identity: string;
  /** The reporting component of Events; by default the identity. */
  readonly eventSource?: string | undefined;
  /** The number of concurrent passes. */
  readonly workers: number;
  readonly onFailure: (failure: Failure) => void;
  readonly onOutcome: WorkerOptions<string>['onOutcome'];
  /** Called when a cache did not show a write in time. */
  readonly onExpired: ExpectationsOptions['onExpired'];
}

/** A cache without the type of its objects. */
type Cache = Pick<Reflector<never>, 'run'> & Synced;
type Synced = Pick<Reflector<KubeObject>, 'synced'>;

/** The part of a controller that differs between kinds. */
export interface Loop {
  /** The caches of the controller. They run as long as the controller does. */
  readonly caches: readonly Cache[];
  /** Caches of other controllers that must be complete before the first pass. */
  readonly otherCaches?: readonly Synced[];
  readonly reconcile: Reconcile<string>;
  /** True if the memories of the key can be dropped. */
  readonly isOver: (key: string) => boolean;
  /** The memories that stay when a key is over; by default none. */
  readonly keptMemories?: (key: string) => readonly string[];
}

/** The assembly of all controllers: a fenced client, a queue, workers, Events, and the memories of passes. */
export class Controller {
  /** The client of the controller: it writes only while this process leads. */
  readonly client: KubeClient;
  readonly memories = new Memories();
  readonly queue: WorkQueue<string>;
  readonly recorder: EventRecorder;
  readonly expectations: Expectations;
  readonly #options: ControllerOptions;

  constructor(options: ControllerOptions) {
    const { clock, identity, eventSource = identity, onFailure, onExpired } = options;
    this.#options = options;
    this.client = fencedKubeClient(options.client, options.leads);
    this.queue = new WorkQueue<string>(clock);
    const reporter = { component: eventSource, instance: identity };
    const recorder = new EventRecorder({ client: this.client, clock, onFailure, ...reporter });
    this.recorder = this.memories.add('events', recorder);
    this.expectations = this.memories.add('expectations', new Expectations({ clock, onExpired }));
  }

  /** The number of entries kept in memory, by purpose. */
  readonly remembered = (): Readonly<Record<string, number>> => ({
    queue: this.queue.remembered,
    ...this.memories.sizes(),
  });

  /**
   * Enqueues an object of the controller's kind when it changes. A change of the status alone does not reset the
   * backoff, because it is usually the operator's own write.
   */
  enqueueChangesOf(declared: Store<KubeObject>, onOtherChange: (key: string) => void = () => undefined): void {
    declared.onChange((change) => {
      const key = keyOf(change.object.metadata);
      if (isStatusOnly(change)) return this.queue.add(key);
      onOtherChange(key);
      this.queue.wake(key);
    });
  }

  /** Runs until `signal` aborts. Passes begin when all caches are complete. */
  async run({ caches, otherCaches = [], ...loop }: Loop, signal: AbortSignal): Promise<void> {
    const { workers: count, clock, onOutcome } = this.#options;
    const forget = (key: string): void => this.memories.forget(key, loop.keptMemories?.(key));
    const reconcile = forgetWhenOver(loop.reconcile, { forget }, loop.isOver);
    const working = workers({ queue: this.queue, reconcile, count, clock, isFair: true, onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced([...caches, ...otherCaches], stop)) await working(stop);
    };
    await runTogether(
      [
        ...caches.map(
          (cache): Runnable =>
            (stop) =>
              cache.run(stop),
        ),
        afterSync,
      ],
      signal,
    );
    await this.recorder.flush(AbortSignal.timeout(2_000));
  }
}
