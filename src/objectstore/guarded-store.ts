import { addAbortSignal, Readable } from 'node:stream';
import { Checksum } from './checksum.ts';
import { type StoreAttempt, StoreFailure } from './failures.ts';
import { IdleLimit } from './idle-limit.ts';
import { assertKey, assertReadableKey } from './keys.ts';
import type { ByteStream, Explanation, ObjectStore, OpenObject, StoreDriver, StoredObject } from './store.ts';

/** Long enough for one large part over a slow network. */
const defaultIdleMillis = 120_000;
/** Time for a driver to clean up after an abort, and for library calls that ignore the signal. */
const graceMillis = 5_000;

export interface GuardSettings {
  /** How long the store may be idle. */
  readonly idleMillis: number;
}

/** Behaviour common to all stores: key checks, idle timeout, byte counts, and error messages. */
export class GuardedStore implements ObjectStore {
  readonly place: string;
  readonly #driver: StoreDriver;
  readonly #idleMillis: number;

  constructor(driver: StoreDriver, { idleMillis = defaultIdleMillis }: Partial<GuardSettings> = {}) {
    this.place = driver.place;
    this.#driver = driver;
    this.#idleMillis = idleMillis;
  }

  async put(key: string, body: ByteStream, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    const what = `write object "${key}"`;
    const sent = new Checksum();
    const writing = this.#trying(what, signal, (limit) =>
      this.#driver.put(key, sent.of(limit.feeding(body)), limit.signal),
    );
    const isConfirmed = await writing.catch((thrown: unknown) => {
      if (!(thrown instanceof StoreFailure && thrown.trouble === 'no-object')) throw thrown;
      // Some servers answer 404 without a code. For a write, only the bucket can be missing.
      throw new StoreFailure(this.#attempt(what), { trouble: 'no-bucket', detail: 'it does not exist' }, thrown);
    });
    if (isConfirmed) return;
    const found = await Checksum.reading((await this.get(key, signal)).body);
    if (found.equals(sent)) return;
    const detail = `the store returns ${found.text}, but ${sent.text} were sent`;
    throw new StoreFailure(this.#attempt(what), { trouble: 'damaged', detail });
  }

  async get(key: string, signal?: AbortSignal): Promise<OpenObject> {
    assertReadableKey(key);
    const what = `read object "${key}"`;
    const limit = new IdleLimit(this.#idleMillis, signal);
    const opened = await this.#within(what, limit, () => this.#driver.get(key, limit.signal));
    return { ...opened, body: this.#counted(opened, limit) };
  }

  async head(key: string, signal?: AbortSignal): Promise<StoredObject> {
    assertReadableKey(key);
    return this.#trying(`read the metadata of object "${key}"`, signal, (limit) =>
      this.#driver.head(key, limit.signal),
    );
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject, void, undefined> {
    using limit = new IdleLimit(this.#idleMillis, signal);
    const what = `list objects "${prefix}…"`;
    const objects = this.#driver.list(prefix, limit.signal)[Symbol.asyncIterator]();
    for (;;) {
      limit.resume();
      const { done, value } = await this.#within(what, limit, () => objects.next());
      if (done === true) return;
      limit.pause();
      yield value;
    }
  }

  async delete(key: string, signal?: AbortSignal): Promise<void> {
    assertKey(key);
    const deleting = this.#trying(`delete object "${key}"`, signal, (limit) => this.#driver.delete(key, limit.signal));
    await deleting.catch((thrown: unknown) => {
      if (!(thrown instanceof StoreFailure && thrown.trouble === 'no-object')) throw thrown;
    });
  }

  [Symbol.dispose](): void {
    this.#driver.close?.();
  }

  async #trying<T>(
    what: string,
    signal: AbortSignal | undefined,
    attempt: (limit: IdleLimit) => Promise<T>,
  ): Promise<T> {
    using limit = new IdleLimit(this.#idleMillis, signal);
    return await this.#within(what, limit, () => attempt(limit));
  }

  async #within<T>(what: string, limit: IdleLimit, attempt: () => Promise<T>): Promise<T> {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const { signal } = limit;
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      grace = setTimeout(reject, graceMillis, new Error('ended'));
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      signal.throwIfAborted();
      return await Promise.race([attempt(), ended]);
    } catch (thrown) {
      limit.pause();
      throw this.#failure(what, limit, thrown);
    } finally {
      signal.removeEventListener('abort', end);
      clearTimeout(grace);
    }
  }

  #failure(what: string, limit: IdleLimit, thrown: unknown): unknown {
    if (limit.sourceFailure !== undefined) return limit.sourceFailure.thrown;
    if (thrown instanceof StoreFailure) return thrown;
    return new StoreFailure(this.#attempt(what), this.#abortReason(limit) ?? this.#driver.explain(thrown), thrown);
  }

  #attempt(what: string): StoreAttempt {
    return { what, place: this.place, identity: this.#driver.identity };
  }

  #abortReason({ hasTimedOut, isAborted }: IdleLimit): Explanation | undefined {
    if (hasTimedOut)
      return { trouble: 'unreachable', detail: `the store did not respond for ${this.#idleMillis / 1000} s` };
    if (isAborted) return { trouble: 'unreachable', detail: 'aborted' };
    return undefined;
  }

  async *#counted({ key, size, body }: OpenObject, limit: IdleLimit): AsyncGenerator<Uint8Array, void, undefined> {
    using _ends = limit;
    const what = `read object "${key}"`;
    let received = 0;
    const cutShort = (cause?: unknown): StoreFailure => {
      const detail = `only ${received} of ${size} bytes arrived`;
      return new StoreFailure(this.#attempt(what), { trouble: 'truncated', detail }, cause);
    };
    const parts = body[Symbol.asyncIterator]();
    // Streams of Node obey the signal, and have too many parts for a race at each part.
    const obeysSignal = body instanceof Readable && addAbortSignal(limit.signal, body) === body;
    const pull = obeysSignal ? () => parts.next() : () => this.#within(what, limit, () => parts.next());
    const next = async (): Promise<Uint8Array | undefined> => {
      limit.resume();
      const { done, value } = await pull().catch((thrown: unknown) => {
        throw this.#abortReason(limit) === undefined ? cutShort(thrown) : this.#failure(what, limit, thrown);
      });
      limit.pause();
      return done === true ? undefined : value;
    };
    try {
      for (let part = await next(); part !== undefined; part = await next()) {
        received += part.byteLength;
        yield part;
      }
    } finally {
      await parts.return?.().catch(() => undefined);
    }
    if (received !== size) throw cutShort();
  }
}
