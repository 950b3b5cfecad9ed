/** What a store says of something it keeps. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  readonly modified: Date;
}

export type Body = AsyncIterable<Uint8Array>;

/** A stored object, and its bytes; whoever does not read them to their end leaves the loop over them. */
export interface OpenObject extends StoredObject {
  readonly body: Body;
}

/**
 * Where snapshots are kept: one bucket, container or volume. What goes wrong, goes wrong as a StoreFailure; what the body
 * of a `put` throws comes out of it as it is.
 */
export interface ObjectStore extends Disposable {
  /** What is spoken to, for sentences: `bucket "backups" at https://…`. */
  readonly place: string;
  /**
   * The object is there when all of its bytes are. One that was there before stays whole until then, and for good if this fails.
   * Ends well only if the store is known to hold the bytes that were sent: by the store's own checksum, or by reading them back.
   */
  readonly put: (key: string, body: Body, signal?: AbortSignal) => Promise<void>;
  /** Fails at its end, after the last part was given out, if less arrived than the store promised. */
  readonly get: (key: string, signal?: AbortSignal) => Promise<OpenObject>;
  readonly head: (key: string, signal?: AbortSignal) => Promise<StoredObject>;
  /** All objects whose keys begin so, page by page, ordered by key. */
  readonly list: (prefix: string, signal?: AbortSignal) => AsyncIterable<StoredObject>;
  /** What is not there is as good as deleted. */
  readonly delete: (key: string, signal?: AbortSignal) => Promise<void>;
}

/** A provider's own part: the same verbs, and how its errors are to be understood. Everything else is in GuardedStore. */
export interface StoreDriver {
  readonly place: string;
  /** Whom the provider takes us for: `key "credentials" of Secret "aws"`. */
  readonly identity: string;
  /** True if the store's own checksum is that of the bytes sent; if not, the object is read back. */
  readonly put: (key: string, body: Body, signal: AbortSignal) => Promise<boolean>;
  readonly get: (key: string, signal: AbortSignal) => Promise<OpenObject>;
  readonly head: (key: string, signal: AbortSignal) => Promise<StoredObject>;
  readonly list: (prefix: string, signal: AbortSignal) => AsyncIterable<StoredObject>;
  readonly delete: (key: string, signal: AbortSignal) => Promise<void>;
  readonly explain: (thrown: unknown) => Explanation;
  readonly close?: () => void;
}

/** The ways in which a store fails us. */
export type StoreTrouble =
  | 'no-object'
  | 'no-bucket'
  | 'denied' //         these credentials may not, or are not known
  | 'no-credentials' // there are none to show
  | 'unreachable' //    network, overload, time-out
  | 'truncated' //      less arrived than was promised
  | 'damaged' //        it does not hold the bytes that were sent
  | 'full'
  | 'rejected'; //      the store says no for another reason

export interface Explanation {
  readonly trouble: StoreTrouble;
  readonly says: string;
}
