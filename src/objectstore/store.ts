/** Metadata of a stored object. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  readonly modified: Date;
}

export type ByteStream = AsyncIterable<Uint8Array>;

/** A stored object and its bytes. A reader that stops early must leave the loop over the body. */
export interface OpenObject extends StoredObject {
  readonly body: ByteStream;
}

/**
 * A store for snapshots: one bucket, container or volume. Its failures are StoreFailures. Errors of the body of a `put`
 * are thrown unchanged.
 */
export interface ObjectStore extends Disposable {
  /** Description of the store, for messages: `bucket "backups" at https://…`. */
  readonly place: string;
  /**
   * Writes an object atomically: an earlier object of that key stays until the new one is complete, and stays if the
   * write fails. Succeeds only if the store holds the bytes sent, by the checksum of the store or by reading the object
   * back.
   */
  readonly put: (key: string, body: ByteStream, signal?: AbortSignal) => Promise<void>;
  /** The body fails at its end if it is shorter than its size. */
  readonly get: (key: string, signal?: AbortSignal) => Promise<OpenObject>;
  readonly head: (key: string, signal?: AbortSignal) => Promise<StoredObject>;
  /** All objects whose keys start with the prefix, page by page, ordered by key. */
  readonly list: (prefix: string, signal?: AbortSignal) => AsyncIterable<StoredObject>;
  /** Succeeds if the object does not exist. */
  readonly delete: (key: string, signal?: AbortSignal) => Promise<void>;
}

/** The driver of a provider: the operations, and the classification of its errors. GuardedStore adds the rest. */
export interface StoreDriver {
  readonly place: string;
  /** Credentials in use, for messages: `key "credentials" of Secret "aws"`. */
  readonly identity: string;
  /** True if the store confirms the checksum of the bytes sent. Otherwise the object is read back. */
  readonly put: (key: string, body: ByteStream, signal: AbortSignal) => Promise<boolean>;
  readonly get: (key: string, signal: AbortSignal) => Promise<OpenObject>;
  readonly head: (key: string, signal: AbortSignal) => Promise<StoredObject>;
  readonly list: (prefix: string, signal: AbortSignal) => AsyncIterable<StoredObject>;
  readonly delete: (key: string, signal: AbortSignal) => Promise<void>;
  readonly explain: (thrown: unknown) => Explanation;
  readonly close?: () => void;
}

/** Kinds of store failures. */
export type StoreTrouble =
  | 'no-object'
  | 'no-bucket'
  | 'denied' //         the credentials are unknown or lack a permission
  | 'no-credentials' // there are no credentials
  | 'unreachable' //    network, overload, time-out
  | 'truncated' //      the body is shorter than its size
  | 'damaged' //        the store does not hold the bytes sent
  | 'full'
  | 'rejected'; //      refused for another reason

export interface Explanation {
  readonly trouble: StoreTrouble;
  readonly detail: string;
}
