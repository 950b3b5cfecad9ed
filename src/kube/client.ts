import type { At, KubeObject, Stored } from './object.ts';
import type { Resource, Review } from './resource.ts';
import type { WatchEvent } from './watch-events.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the server may take to answer. */
  readonly timeoutSeconds?: number;
  /** Called right before the request is sent, after credentials have been waited for; the request is not sent if this throws. */
  readonly confirm?: (() => void) | undefined;
}

export interface Selection extends CallOptions {
  /** Without it, all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  /** How many objects a page may have; by default as many as make a page of about 1 MiB. */
  readonly limit?: number;
  /** How many objects are enough: no further page is asked for. */
  readonly enough?: number;
  /** Changes each object as it comes in, so that a whole list never has to be held as it was sent. */
  readonly each?: <O extends KubeObject>(object: Stored<O>) => Stored<O>;
}

export interface WriteOptions extends CallOptions {
  /** What is written instead of the object itself; `binding` and `token` are created. */
  readonly subresource?: 'status' | 'scale' | 'binding' | 'token';
  readonly dryRun?: boolean;
}

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] }
  /** Server-side apply; `force` takes fields away from whoever has them. */
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

export interface RemoveOptions extends CallOptions {
  /** What must be true of the object: without them one may delete what somebody else has just created. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

export interface WatchOptions extends Selection {
  /** Tells what happened after this version. */
  readonly resourceVersion: string;
  /** After which the server ends the watch. */
  readonly lastsSeconds?: number;
  /** How long the server may be silent; it sends a bookmark every minute, so silence is a sign of a dead connection. */
  readonly idleSeconds?: number;
}

/** A part of a list, or all of it, and the version of the whole collection that it shows. */
export interface Listed<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
}

/** What we ask of an API server. Everything that goes wrong is thrown as a Failure. Nothing is asked twice by itself. */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource<T>, at: At, options?: CallOptions): Promise<Stored<T>>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<Listed<T>>;
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<Listed<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  patch<T extends KubeObject>(resource: Resource<T>, at: At, patch: Patch & WriteOptions): Promise<Stored<T>>;
  /** Asks for the deletion; an object with a grace period or finalizers is still there when this returns. */
  remove<T extends KubeObject>(resource: Resource<T>, at: At, options?: RemoveOptions): Promise<void>;
  /** Ends when the server ends it; go on from the version of the last event. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  review<Spec, Status>(review: Review<Spec, Status>, spec: Spec, options?: CallOptions): Promise<Status>;
  /** Reads a path that holds no objects, such as `/version`. */
  read<T>(path: string, options?: CallOptions): Promise<T>;
}
