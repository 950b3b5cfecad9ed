import type { KubeClient } from '../kube/client.ts';
import { ApiFailure, isExpired, isIdleTimeout, retryAfterOf } from '../kube/errors.ts';
import { compareResourceVersions, type KubeObject, type Stored } from '../kube/object.ts';
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
  /** Called for failed lists and watches. The reflector retries by itself. */
  readonly onFailure: (failure: Failure) => void;
  /** Called when a watch ends normally and the next one begins. `plural` is the resource's plural. */
  readonly onRestart?: ((plural: string) => void) | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** A store shared with reflectors of other namespaces. Default: a new store. */
  readonly store?: Store<T>;
  /** Drops unused parts of an object, to save memory. Default: `slim`. */
  readonly trim?: (object: Stored<T>) => Stored<T>;
  readonly pageSize?: number;
  readonly idleSeconds?: number;
  readonly backoff?: Backoff;
}

const defaultBackoff: Backoff = { firstSeconds: 0.5, mostSeconds: 30 };
/** A watch that lasted this long resets the count of consecutive failures. */
const goodWatchMillis = 5_000;
/** The server ends a watch after one to two times this duration. The jitter spreads the restarts. */
const watchSeconds = 300;
/** After so many consecutive failures the resourceVersion may be the cause, so the reflector lists again. */
const failuresUntilRelist = 5;

/**
 * Keeps a store in sync with the server: lists once, then watches from that resourceVersion. A watch that ends is
 * restarted; an expired resourceVersion causes a new list. Only its signal stops a reflector, no failure does.
 */
export class Reflector<T extends KubeObject> {
  readonly store: Store<T>;
  /** Resolves after the first list. Before that, a missing object proves nothing. */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<T>;
  readonly #trim: (object: Stored<T>) => Stored<T>;
  readonly #markSynced: () => void;
  #mustList = true;
  #watchBegan: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#markSynced = resolve;
    this.#options = options;
    this.#trim = options.trim ?? slim;
    this.store = options.store ?? new Store({ indexes: options.indexes ?? {}, onHandlerFailure: options.onFailure });
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const failure = await this.#listAndWatch(signal);
      if (signal.aborted) return;
      if (failure === undefined) this.#options.onRestart?.(this.#options.resource.plural);
      else this.#options.onFailure(failure);
      failures = this.#wasLongWatch() ? Number(failure !== undefined) : failures + 1;
      if (isExpired(failure) || failures >= failuresUntilRelist) this.#mustList = true;
      await pause(this.#options.clock, this.#waitMillis(failures, failure), signal);
    }
  }

  /** Lists if needed, then watches until the watch ends. */
  async #listAndWatch(signal: AbortSignal): Promise<Failure | undefined> {
    this.#watchBegan = undefined;
    try {
      if (this.#mustList) await this.#list(signal);
      this.#watchBegan = this.#options.clock.monotonic();
      await this.#watch(signal);
      return undefined;
    } catch (thrown) {
      // An idle time-out ends a watch normally. The same error from a list is a failure.
      return this.#watchBegan !== undefined && isIdleTimeout(thrown) ? undefined : Failure.from(thrown);
    }
  }

  #wasLongWatch(): boolean {
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
    this.#markSynced();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, clock, idleSeconds } = this.#options;
    const from = this.store.versionIn(this.#options.namespace) ?? '';
    const idle = idleSeconds === undefined ? {} : { idleSeconds };
    const lastsSeconds = watchSeconds * (1 + clock.random());
    const options = { ...this.#selection(), ...idle, resourceVersion: from, lastsSeconds, signal };
    for await (const event of client.watch(resource, options)) this.#apply(event);
  }

  #apply(event: WatchEvent<T>): void {
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
    if (before !== undefined && compareResourceVersions(version, before) < 0)
      // The server's etcd was restored from a backup: the cached objects may be from a lost history.
      throw new ApiFailure('conflict', `the API server went back to resourceVersion ${version}`, { reason: 'Expired' });
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

/** Waits for the first list of each reflector. False if `signal` aborts before. */
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
