import { compareVersions, type KubeObject, keyOf, type Stored } from '../kube/object.ts';
import type { Clock } from './clock.ts';
import type { Store } from './store.ts';

/** The part of a store that tells how far it has come. */
export type Seen = Pick<Store<KubeObject>, 'get' | 'versionIn'>;

interface Expectation {
  readonly what: string;
  readonly expires: number;
  readonly isMet: () => boolean;
}

export interface ExpectationsOptions {
  readonly clock: Clock;
  /** Told when a store did not come as far as it should in good time. The pass then goes on with what there is. */
  readonly onExpired: (key: string, what: string) => void;
  readonly expireSeconds?: number;
}

const defaultExpireSeconds = 30;

/**
 * Remembers our own writes until the stores have seen them. A pass that looks at a store which lags behind would do the
 * same thing once more: create a second pod, remove a second member. `key` is what the pass is about; the objects that
 * were written may be of other kinds.
 */
export class Expectations {
  readonly #options: ExpectationsOptions;
  readonly #open = new Map<string, readonly Expectation[]>();

  constructor(options: ExpectationsOptions) {
    this.#options = options;
  }

  /** For how many keys something is open. */
  get size(): number {
    return this.#open.size;
  }

  /** We created or changed an object; `object` is what the server answered. */
  wrote(key: string, store: Seen, object: Stored<KubeObject>): void {
    const version = versionOf(object);
    // Versions are counted over a whole kind, so a store that is further has also seen this, even if it is gone since.
    this.#expect(key, `${object.kind} ${keyOf(object.metadata)} at version ${version.resourceVersion}`, () =>
      hasReached(store, version),
    );
  }

  /** We asked for an object's deletion; `object` is what we knew of it. */
  removed(key: string, store: Seen, object: Stored<KubeObject>): void {
    const at = keyOf(object.metadata);
    this.#expect(key, `the deletion of ${object.kind} ${at}`, isGone(store, at, versionOf(object)));
  }

  /** Whether all that was written for this key can be seen. If not, do nothing yet: an event is on its way. */
  caughtUp(key: string): boolean {
    const now = this.#options.clock.monotonic();
    const open = (this.#open.get(key) ?? []).filter(({ isMet }) => !isMet());
    for (const { what } of open.filter(({ expires }) => expires <= now)) this.#options.onExpired(key, what);
    const left = open.filter(({ expires }) => expires > now);
    if (left.length === 0) this.#open.delete(key);
    else this.#open.set(key, left);
    return left.length === 0;
  }

  /** The key is gone for good. */
  forget(key: string): void {
    this.#open.delete(key);
  }

  #expect(key: string, what: string, isMet: () => boolean): void {
    const { clock, expireSeconds = defaultExpireSeconds } = this.#options;
    const expires = clock.monotonic() + expireSeconds * 1000;
    this.#open.set(key, [...(this.#open.get(key) ?? []), { what, expires, isMet }]);
  }
}

/** All that is kept of an object: an expectation lasts for seconds, and objects may be large. */
interface Version {
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
}

const versionOf = ({ metadata: { namespace, uid, resourceVersion } }: Stored<KubeObject>): Version => ({
  ...{ namespace, uid, resourceVersion },
});

const isGone =
  (store: Seen, at: string, version: Version): (() => boolean) =>
  () => {
    if (!hasReached(store, version)) return false;
    const now = store.get(at)?.metadata;
    return now === undefined || now.uid !== version.uid || now.deletionTimestamp !== undefined;
  };

function hasReached(store: Seen, { namespace, resourceVersion }: Version): boolean {
  const version = store.versionIn(namespace);
  return version !== undefined && compareVersions(version, resourceVersion) >= 0;
}
