import { isDeepStrictEqual } from 'node:util';
import { compareVersions, type KubeObject, keyOf, type Stored } from '../kube/object.ts';
import { Failure } from '../std/failure.ts';

/** Something that happened to an object. `old` is what the store held before. */
export type Change<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: Stored<T>; readonly old?: undefined }
  | { readonly type: 'updated'; readonly object: Stored<T>; readonly old: Stored<T> }
  /** `object` is the last that was seen of it. */
  | { readonly type: 'deleted'; readonly object: Stored<T>; readonly old: Stored<T> };

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

/** The values under which an object is found again in its own namespace, such as its owner's uid. */
export type IndexValues<T extends KubeObject> = (object: Stored<T>) => readonly string[];

export interface StoreOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** A handler threw: that is a bug, but not one that may stop the others. */
  readonly onHandlerFailure: (failure: Failure) => void;
  /** Each namespace has a reflector of its own, and so a version of its own. */
  readonly perNamespace?: boolean;
}

/** A copy of what the server has, as of some version. Nobody but its reflector writes to it. */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>();
  readonly #indexes: readonly (readonly [string, Index<T>])[];
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #onHandlerFailure: (failure: Failure) => void;
  readonly #perNamespace: boolean;
  readonly #versions = new Map<string, string>();

  constructor({ indexes = {}, onHandlerFailure, perNamespace = false }: StoreOptions<T>) {
    this.#perNamespace = perNamespace;
    this.#indexes = Object.entries(indexes).map(([name, valuesOf]) => [name, new Index(valuesOf)]);
    this.#onHandlerFailure = onHandlerFailure;
  }

  /**
   * All that happened up to this version is in here; nothing before the first list. Where each namespace has its own watch, the
   * version of one says nothing about another.
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
   * The objects of one namespace with this value in the index of that name, in the order of their names. Owner references,
   * labels and annotations are claims of the object's author, which bind nothing in another namespace.
   */
  by(index: string, namespace: string | undefined, value: string): readonly Stored<T>[] {
    const found = this.#indexes.find(([name]) => name === index);
    if (found === undefined) throw new Failure('bug', `there is no index "${index}"`);
    const keys = [...found[1].keys(namespace, value)].sort();
    return keys.flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Tells of every change from now on, and first of what is here already. Returns how to end it. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.all()) this.#tell(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /** The whole truth, from a list: what is not in it is gone. It is the truth of one namespace where each has a reflector. */
  replace(objects: readonly Stored<T>[], version: string, namespace?: string): void {
    const part = this.#partOf(namespace);
    this.#versions.set(part, version);
    const present = new Set(objects.map(({ metadata }) => keyOf(metadata)));
    for (const [key, old] of this.#objects)
      if (!present.has(key) && this.#partOf(old.metadata.namespace) === part) this.#drop(key, old, old);
    for (const object of objects) this.#put(object);
  }

  /** One object as it is now. */
  put(object: Stored<T>): void {
    this.advance(object.metadata.resourceVersion, object.metadata.namespace);
    const old = this.#objects.get(keyOf(object.metadata));
    const isStale = old !== undefined && old.metadata.uid === object.metadata.uid && isOlder(object, old);
    if (!isStale) this.#put(object);
  }

  /** One object as it was when it went. */
  remove(object: Stored<T>): void {
    this.advance(object.metadata.resourceVersion, object.metadata.namespace);
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    if (old !== undefined) this.#drop(key, object, old);
  }

  /** Nothing else happened up to this version. */
  advance(version: string, namespace?: string): void {
    const part = this.#partOf(namespace);
    const before = this.#versions.get(part);
    if (before === undefined || compareVersions(version, before) > 0) this.#versions.set(part, version);
  }

  #partOf(namespace = ''): string {
    return this.#perNamespace ? namespace : '';
  }

  #put(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    if (old === undefined) return this.#change(key, { type: 'added', object });
    if (old.metadata.uid !== object.metadata.uid) {
      // The same name, another object: whoever counts on the old one has to hear that it is gone.
      this.#drop(key, old, old);
      return this.#change(key, { type: 'added', object });
    }
    if (old.metadata.resourceVersion !== object.metadata.resourceVersion)
      this.#change(key, { type: 'updated', object, old });
  }

  #drop(key: string, object: Stored<T>, old: Stored<T>): void {
    this.#change(key, { type: 'deleted', object, old });
  }

  /** Everything is in its place before anybody is told, so a handler that looks sees what it was told of. */
  #change(key: string, change: Change<T>): void {
    if (change.type === 'deleted') this.#objects.delete(key);
    else this.#objects.set(key, change.object);
    for (const [, index] of this.#indexes) {
      if (change.old !== undefined) index.remove(key, change.old);
      if (change.type !== 'deleted') index.add(key, change.object);
    }
    for (const handler of this.#handlers) this.#tell(handler, change);
  }

  #tell(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (thrown) {
      this.#onHandlerFailure(Failure.from(thrown));
    }
  }
}

const isOlder = (a: KubeObject, b: KubeObject): boolean =>
  compareVersions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') < 0;

/** Whether nothing but an object's status has changed. */
export function isStatusAlone({ type, object, old }: Change<KubeObject>): boolean {
  if (type !== 'updated' || object.metadata.generation === undefined) return false;
  return isDeepStrictEqual(declaredIn(object), declaredIn(old));
}

const declaredIn = ({ metadata }: KubeObject): object => {
  const { generation, labels, annotations, finalizers, ownerReferences, deletionTimestamp } = metadata;
  return { generation, labels, annotations, finalizers, ownerReferences, deletionTimestamp };
};

/** For each namespace and value, the keys of the objects that have it. Every index has the namespace, whatever it is by. */
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

/** An index by the uids of an object's owners. */
export const byOwner: IndexValues<KubeObject> = ({ metadata }) =>
  (metadata.ownerReferences ?? []).map(({ uid }) => uid);

/** An index by the value of one label. */
export const byLabel =
  (label: string): IndexValues<KubeObject> =>
  ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
