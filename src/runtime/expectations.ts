import { compareResourceVersions, type KubeObject, keyOf, type Stored } from '../kube/object.ts';
import type { Clock } from './clock.ts';
import type { Store } from './store.ts';

/** The part of a store that shows which resourceVersion it has reached. */
export type StoreView = Pick<Store<KubeObject>, 'get' | 'versionIn'>;

interface Expectation {
  readonly what: string;
  readonly expires: number;
  readonly isMet: () => boolean;
}

export interface ExpectationsOptions {
  readonly clock: Clock;
  /** Called when a store did not see a write in time. The pass then continues with the store as it is. */
  readonly onExpired: (key: string, what: string) => void;
  readonly expireSeconds?: number;
}

const defaultExpireSeconds = 30;

/**
 * Tracks our own writes until the stores have seen them. A pass on a stale store would repeat a write: create a second
 * pod, remove a second member. `key` is the key of the pass; the written objects may be of other kinds.
 */
export class Expectations {
  readonly #options: ExpectationsOptions;
  readonly #open = new Map<string, readonly Expectation[]>();

  constructor(options: ExpectationsOptions) {
    this.#options = options;
  }

  /** The number of keys with open expectations. */
  get size(): number {
    return this.#open.size;
  }

  /** Records a create or an update; `object` is the server's answer. */
  wrote(key: string, store: StoreView, object: Stored<KubeObject>): void {
    const version = versionOf(object);
    // A resourceVersion counts over a whole kind: a store beyond it has seen this write, even if the object is gone.
    this.#expect(key, `${object.kind} ${keyOf(object.metadata)} at version ${version.resourceVersion}`, () =>
      hasReached(store, version),
    );
  }

  /** Records a delete request; `object` is its last known state. */
  removed(key: string, store: StoreView, object: Stored<KubeObject>): void {
    const at = keyOf(object.metadata);
    this.#expect(key, `the deletion of ${object.kind} ${at}`, isGone(store, at, versionOf(object)));
  }

  /** True if the stores have seen all writes of this key. If not, skip the pass: a watch event will follow. */
  caughtUp(key: string): boolean {
    const now = this.#options.clock.monotonic();
    const open = (this.#open.get(key) ?? []).filter(({ isMet }) => !isMet());
    for (const { what } of open.filter(({ expires }) => expires <= now)) this.#options.onExpired(key, what);
    const left = open.filter(({ expires }) => expires > now);
    if (left.length === 0) this.#open.delete(key);
    else this.#open.set(key, left);
    return left.length === 0;
  }

  /** Drops a deleted key. */
  forget(key: string): void {
    this.#open.delete(key);
  }

  #expect(key: string, what: string, isMet: () => boolean): void {
    const { clock, expireSeconds = defaultExpireSeconds } = this.#options;
    const expires = clock.monotonic() + expireSeconds * 1000;
    this.#open.set(key, [...(this.#open.get(key) ?? []), { what, expires, isMet }]);
  }
}

/** The only data kept of a written object, because objects may be large. */
interface Version {
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
}

const versionOf = ({ metadata: { namespace, uid, resourceVersion } }: Stored<KubeObject>): Version => ({
  namespace,
  uid,
  resourceVersion,
});

const isGone =
  (store: StoreView, at: string, version: Version): (() => boolean) =>
  () => {
    if (!hasReached(store, version)) return false;
    const now = store.get(at)?.metadata;
    return now === undefined || now.uid !== version.uid || now.deletionTimestamp !== undefined;
  };

function hasReached(store: StoreView, { namespace, resourceVersion }: Version): boolean {
  const version = store.versionIn(namespace);
  return version !== undefined && compareResourceVersions(version, resourceVersion) >= 0;
}
