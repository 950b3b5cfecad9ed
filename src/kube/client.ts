import type { KubeObject, NamespacedName, Stored } from './object.ts';
import type { Resource, Review } from './resource.ts';
import type { WatchEvent } from './watch-events.ts';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time-out of the answer. */
  readonly timeoutSeconds?: number;
  /** Called right before the request is sent, after credentials are loaded. If it throws, nothing is sent. */
  readonly confirm?: (() => void) | undefined;
}

export interface Selection extends RequestOptions {
  /** Without it, all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  /** The most objects of a page. By default, pages have about 1 MiB. */
  readonly limit?: number;
  /** Stops listing once this many objects were read. */
  readonly enough?: number;
  /** Maps each object on arrival, so that no whole list is held in its original size. */
  readonly each?: <O extends KubeObject>(object: Stored<O>) => Stored<O>;
}

export interface WriteOptions extends RequestOptions {
  /** Writes a subresource instead of the object; `binding` and `token` are created. */
  readonly subresource?: 'status' | 'scale' | 'binding' | 'token';
  readonly dryRun?: boolean;
}

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] }
  /** Server-side apply; `force` takes fields over from other field managers. */
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

export interface RemoveOptions extends RequestOptions {
  /** Without preconditions, a delete may hit a new object of the same name. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

export interface WatchOptions extends Selection {
  /** The watch starts after this version. */
  readonly resourceVersion: string;
  /** The time after which the server ends the watch. */
  readonly lastsSeconds?: number;
  /**
   * The longest time without data. The server sends a bookmark every minute, so a longer silence means a dead
   * connection.
   */
  readonly idleSeconds?: number;
}

/** A page of a list, or the whole list, and the resourceVersion of the collection. */
export interface Listed<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
}

/** A client of the API server. All errors are thrown as a Failure. No request is retried. */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource<T>, at: NamespacedName, options?: RequestOptions): Promise<Stored<T>>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<Listed<T>>;
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<Listed<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    at: NamespacedName,
    patch: Patch & WriteOptions,
  ): Promise<Stored<T>>;
  /** Requests the deletion. An object with a grace period or finalizers still exists afterwards. */
  remove<T extends KubeObject>(resource: Resource<T>, at: NamespacedName, options?: RemoveOptions): Promise<void>;
  /** Ends when the server ends the watch. Continue from the version of the last event. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  review<Spec, Status>(review: Review<Spec, Status>, spec: Spec, options?: RequestOptions): Promise<Status>;
  /** Reads a path without objects, such as `/version`. */
  read<T>(path: string, options?: RequestOptions): Promise<T>;
}
