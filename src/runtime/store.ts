import { isDeepStrictEqual } from 'node:util';
import { compareResourceVersions, type KubeObject, keyOf, type Stored } from '../kube/object.ts';
import { Failure } from '../std/failure.ts';
import { shared } from './shared.ts';

/** A change of an object in the store. `old` is the previous state. */
export type Change<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: Stored<T>; readonly old?: undefined }
  | { readonly type: 'updated'; readonly object: Stored<T>; readonly old: Stored<T> }
  /** `object` is the last known state. */
  | { readonly type: 'deleted'; readonly object: Stored<T>; readonly old: Stored<T> };

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

/** The index values of an object, such as the UID of its owner. Lookups are by namespace. */
export type IndexValues<T extends KubeObject> = (object: Stored<T>) => readonly string[];

export interface StoreOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** Called when a handler throws. The other handlers still run. */
  readonly onHandlerFailure: (failure: Failure) => void;
  /** Each namespace has its own reflector, and so its own resourceVersion. */
  readonly perNamespace?: boolean;
}

/** A cache of the server's objects at some resourceVersion. Only its reflector writes to it. */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>();
  readonly #indexes: readonly (readonly [string, Index<T>])[];
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #onHandlerFailure: (failure: Failure) => void;
  readonly #perNamespace: boolean;
  readonly #versions = new Map<string, string>();
  #newest: Stored<T> | undefined;

  constructor({ indexes = {}, onHandlerFailure, perNamespace = false }: StoreOptions<T>) {
    this.#perNamespace = perNamespace;
    this.#indexes = Object.entries(indexes).map(([name, valuesOf]) => [name, new Index(valuesOf)]);
    this.#onHandlerFailure = onHandlerFailure;
  }

  /**
   * The resourceVersion up to which the store is complete; undefined before the first list. With a watch per namespace,
   * each namespace has its own version.
   */
  versionIn(namespace: string | undefined): string | undefined {
    return this.#versions.get(this.#partOf(namespace));
  }

  get size(): number {
    return this.#objects.size;
  }

  get indexNames(): readonly string[] {
    return this.#indexes.map(([name]) => name);
  }

  get(key: string): Stored<T> | undefined {
    return this.#objects.get(key);
  }

  all(): readonly Stored<T>[] {
    return [...this.#objects.values()];
  }

  /**
   * The objects of a namespace with this value in the named index, sorted by name. Owner references, labels and
   * annotations of objects in other namespaces do not count: their authors may write any value.
   */
  by(index: string, namespace: string | undefined, value: string): readonly Stored<T>[] {
    const found = this.#indexes.find(([name]) => name === index);
    if (found === undefined) throw new Failure('bug', `no index "${index}"`);
    const keys = [...found[1].keys(namespace, value)].sort();
    return keys.flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Calls the handler for each object in the store, then for every change. Returns a function that unsubscribes. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.all()) this.#notify(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /**
   * Replaces the content by a list: missing objects are deleted. With a reflector per namespace, only that namespace's
   * objects.
   */
  replace(objects: readonly Stored<T>[], version: string, namespace?: string): void {
    const part = this.#partOf(namespace);
    this.#versions.set(part, version);
    const present = new Set(objects.map(({ metadata }) => keyOf(metadata)));
    for (const [key, old] of this.#objects)
      if (!present.has(key) && this.#partOf(old.metadata.namespace) === part) this.#drop(key, old, old);
    for (const object of objects) this.#put(object);
  }

  /** Stores the state of an object from a watch event. An older state is ignored. */
  put(object: Stored<T>): void {
    this.advance(object.metadata.resourceVersion, object.metadata.namespace);
    const old = this.#objects.get(keyOf(object.metadata));
    const isStale = old !== undefined && old.metadata.uid === object.metadata.uid && isOlder(object, old);
    if (!isStale) this.#put(object);
  }

  /** Removes an object; `object` is its state at deletion. */
  remove(object: Stored<T>): void {
    this.advance(object.metadata.resourceVersion, object.metadata.namespace);
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    if (old !== undefined) this.#drop(key, object, old);
  }

  /** Records that the store is complete up to this version. */
  advance(version: string, namespace?: string): void {
    const part = this.#partOf(namespace);
    const before = this.#versions.get(part);
    if (before === undefined || compareResourceVersions(version, before) > 0) this.#versions.set(part, version);
  }

  #partOf(namespace = ''): string {
    return this.#perNamespace ? namespace : '';
  }

  #put(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    if (old === undefined) return this.#change(key, { type: 'added', object });
    if (old.metadata.uid !== object.metadata.uid) {
      // The same name with another UID: handlers get a deletion of the old object, then an addition.
      this.#drop(key, old, old);
      return this.#change(key, { type: 'added', object });
    }
    if (old.metadata.resourceVersion !== object.metadata.resourceVersion)
      this.#change(key, { type: 'updated', object, old });
  }

  #drop(key: string, object: Stored<T>, old: Stored<T>): void {
    this.#change(key, { type: 'deleted', object, old });
  }

  /** Updates objects and indexes first, then calls the handlers, so that a handler reads the new state. */
  #change(key: string, arrived: Change<T>): void {
    const change = { ...arrived, object: this.#sharing(arrived) } as Change<T>;
    if (change.type === 'deleted') this.#objects.delete(key);
    else this.#objects.set(key, change.object);
    for (const [, index] of this.#indexes) {
      if (change.old !== undefined) index.remove(key, change.old);
      if (change.type !== 'deleted') index.add(key, change.object);
    }
    for (const handler of this.#handlers) this.#notify(handler, change);
  }

  /** An object that shares equal parts with its former state, or else with the last new object. */
  #sharing({ type, object, old }: Change<T>): Stored<T> {
    if (type === 'deleted') return object;
    const sharing = shared(object, old ?? this.#newest);
    if (type === 'added') this.#newest = sharing;
    return sharing;
  }

  #notify(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (thrown) {
      this.#onHandlerFailure(Failure.from(thrown));
    }
  }
}

const isOlder = (a: KubeObject, b: KubeObject): boolean =>
  compareResourceVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') < 0;

/** True if only the status of an object changed. */
export function isStatusOnly({ type, object, old }: Change<KubeObject>): boolean {
  if (type !== 'updated' || object.metadata.generation === undefined) return false;
  return isDeepStrictEqual(declaredIn(object), declaredIn(old));
}

const declaredIn = ({ metadata }: KubeObject): object => {
  const { generation, labels, annotations, finalizers, ownerReferences, deletionTimestamp } = metadata;
  return { generation, labels, annotations, finalizers, ownerReferences, deletionTimestamp };
};

/** Maps a namespace and a value to object keys. */
class Index<T extends KubeObject> {
  readonly #valuesOf: IndexValues<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: IndexValues<T>) {
    this.#valuesOf = valuesOf;
  }

  keys(namespace: string | undefined, value: string): Iterable<string> {
    return this.#keys.get(keyOf({ namespace, name: value })) ?? [];
  }

  add(key: string, object: Stored<T>): void {
    for (const value of this.#entriesOf(object)) {
      const keys = this.#keys.get(value) ?? new Set();
      this.#keys.set(value, keys.add(key));
    }
  }

  remove(key: string, object: Stored<T>): void {
    for (const value of this.#entriesOf(object)) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
  }

  #entriesOf(object: Stored<T>): readonly string[] {
    const { namespace } = object.metadata;
    return this.#valuesOf(object).map((value) => keyOf({ namespace, name: value }));
  }
}

/** An index by the UIDs of an object's owners. */
export const byOwner: IndexValues<KubeObject> = ({ metadata }) =>
  (metadata.ownerReferences ?? []).map(({ uid }) => uid);

/** An index by the value of one label. */
export const byLabel =
  (label: string): IndexValues<KubeObject> =>
  ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
