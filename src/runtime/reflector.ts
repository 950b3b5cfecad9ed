import type { KubeClient } from '../kube/client.ts';
import { ApiFailure, isExpired, isIdleEnd, retryAfterOf } from '../kube/errors.ts';
import { compareVersions, type KubeObject, type Stored } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { WatchEvent } from '../kube/watch-events.ts';
import { Failure } from '../std/failure.ts';
import { type Backoff, backoffSeconds, type Clock, pause } from './clock.ts';
import { slim } from './slim.ts';
import { type IndexValues, Store } from './store.ts';

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'pages' | 'watch'>;
  readonly resource: Resource<T>;
  readonly clock: Clock;
  /** Told of what went wrong. Nothing has to be done about it: the reflector goes on by itself. */
  readonly onTrouble: (failure: Failure) => void;
  /** Called when a watch ended in order and the next one begins. `what` is the resource's plural. */
  readonly onRestart?: ((what: string) => void) | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** A store that reflectors of other namespaces keep, too. Without it, the reflector has one of its own. */
  readonly store?: Store<T>;
  /** Takes away what is not read here, to save memory; `slim` if left out. */
  readonly trim?: (object: Stored<T>) => Stored<T>;
  readonly pageSize?: number;
  readonly idleSeconds?: number;
  readonly backoff?: Backoff;
}

const defaultBackoff: Backoff = { firstSeconds: 0.5, mostSeconds: 30 };
/** A watch that lasted this long was a good one: what comes after it is not a failure in a row. */
const goodWatchMillis = 5_000;
/** The server ends a watch after a time between one and two of these, so that not all end at once. */
const watchSeconds = 300;
/** After so many failures in a row the version we go on from may be the reason, so we start from a list. */
const failuresUntilRelist = 5;

/**
 * Keeps a store like the server: a list, and then a watch from its version on; again a watch when that one ends; again a
 * list when the server has forgotten the version. No failure ends it, only its signal.
 */
export class Reflector<T extends KubeObject> {
  readonly store: Store<T>;
  /** Kept when the first list is in the store. Before, that something is not there means nothing. */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<T>;
  readonly #trim: (object: Stored<T>) => Stored<T>;
  readonly #nowSynced: () => void;
  #mustList = true;
  #watchBegan: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#nowSynced = resolve;
    this.#options = options;
    this.#trim = options.trim ?? slim;
    this.store = options.store ?? new Store({ indexes: options.indexes ?? {}, onHandlerFailure: options.onTrouble });
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const failure = await this.#turn(signal);
      if (signal.aborted) return;
      if (failure === undefined) this.#options.onRestart?.(this.#options.resource.plural);
      else this.#options.onTrouble(failure);
      failures = this.#wasGoodWatch() ? Number(failure !== undefined) : failures + 1;
      if (isExpired(failure) || failures >= failuresUntilRelist) this.#mustList = true;
      await pause(this.#options.clock, this.#waitMillis(failures, failure), signal);
    }
  }

  /** A list, if that is needed, and one watch to its end. */
  async #turn(signal: AbortSignal): Promise<Failure | undefined> {
    this.#watchBegan = undefined;
    try {
      if (this.#mustList) await this.#list(signal);
      this.#watchBegan = this.#options.clock.monotonic();
      await this.#watch(signal);
      return undefined;
    } catch (thrown) {
      // A list that stalls fails in the same way as an idle watch, and is trouble.
      return this.#watchBegan !== undefined && isIdleEnd(thrown) ? undefined : Failure.from(thrown);
    }
  }

  #wasGoodWatch(): boolean {
    return this.#watchBegan !== undefined && this.#options.clock.monotonic() - this.#watchBegan >= goodWatchMillis;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, pageSize } = this.#options;
    const objects: Stored<T>[] = [];
    let version = '';
    const limit = pageSize === undefined ? {} : { limit: pageSize };
    for await (const page of client.pages(resource, { ...this.#selection(), ...limit, signal })) {
      for (const item of page.items) objects.push(this.#trim(item));
      version = page.resourceVersion;
    }
    this.store.replace(objects, version, this.#options.namespace);
    this.#mustList = false;
    this.#nowSynced();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, clock, idleSeconds } = this.#options;
    const from = this.store.versionIn(this.#options.namespace) ?? '';
    const idle = idleSeconds === undefined ? {} : { idleSeconds };
    const lastsSeconds = watchSeconds * (1 + clock.random());
    const options = { ...this.#selection(), ...idle, resourceVersion: from, lastsSeconds, signal };
    for await (const event of client.watch(resource, options)) this.#take(event);
  }

  #take(event: WatchEvent<T>): void {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        return this.store.put(this.#trim(event.object));
      case 'DELETED':
        return this.store.remove(this.#trim(event.object));
      case 'BOOKMARK':
        return this.#advance(event.resourceVersion);
      default:
        return event satisfies never;
    }
  }

  #advance(version: string): void {
    const { namespace } = this.#options;
    const before = this.store.versionIn(namespace);
    if (before !== undefined && compareVersions(version, before) < 0)
      // The server's own store was put back to an earlier time, and what we hold may never have happened.
      throw new ApiFailure('conflict', `the server went back to version ${version}`, { reason: 'Expired' });
    this.store.advance(version, namespace);
  }

  #selection(): {
    namespace: string | undefined;
    labelSelector: string | undefined;
    fieldSelector: string | undefined;
  } {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #waitMillis(failures: number, failure: Failure | undefined): number {
    if (failures === 0) return 0;
    const seconds = backoffSeconds(this.#options.clock, this.#options.backoff ?? defaultBackoff, failures);
    return Math.max(seconds, retryAfterOf(failure) ?? 0) * 1000;
  }
}

/** Waits for the first list of each; false if `signal` aborted before that. */
export async function whenSynced(
  reflectors: readonly Pick<Reflector<KubeObject>, 'synced'>[],
  signal: AbortSignal,
): Promise<boolean> {
  const { promise: stopped, resolve } = Promise.withResolvers<false>();
  const stop = (): void => resolve(false);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const synced = Promise.all(reflectors.map((reflector) => reflector.synced)).then(() => true as const);
  const result = await Promise.race([stopped, synced]);
  signal.removeEventListener('abort', stop);
  return result;
}
