import type { KubeObject } from '../object.ts';
import { History, type ObjectChange } from './history.ts';
import { Log, type LogEntry } from './log.ts';

/** The address of an object. A collection is `group/plural`, shared by all versions of a resource. */
export interface Place {
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
}

const keyOf = ({ namespace, name }: Omit<Place, 'collection'>): string => `${namespace}/${name}`;

/**
 * All objects, with one version that counts every change. Stored objects are never changed, only replaced, so readers
 * may keep them.
 */
export class Store {
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #histories = new Map<string, History>();
  readonly #log: Log;
  readonly #listeners = new Set<(change: ObjectChange) => void>();
  #version = 0;
  /** The version before which there is no history. */
  #historyStart = 0;

  constructor(directory: string) {
    this.#log = new Log(directory);
    for (const change of this.#log.read()) this.#load(change);
    this.#historyStart = this.#version;
  }

  get version(): number {
    return this.#version;
  }

  get(place: Place): KubeObject | undefined {
    return this.#collections.get(place.collection)?.get(keyOf(place));
  }

  /** The objects of a collection, sorted by namespace and name. */
  list(collection: string, namespace?: string): readonly KubeObject[] {
    const all = [...(this.#collections.get(collection) ?? [])];
    const chosen = namespace === undefined ? all : all.filter(([key]) => key.startsWith(`${namespace}/`));
    return chosen.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  get collections(): readonly string[] {
    return [...this.#collections.keys()];
  }

  /** Stores an object with a new resourceVersion. */
  put(place: Place, object: KubeObject): KubeObject {
    const version = this.#version + 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const before = this.get(place);
    this.#change(place, { version, object: stored });
    this.#publish({ type: before === undefined ? 'ADDED' : 'MODIFIED', ...place, version, object: stored, before });
    return stored;
  }

  /** Removes an object; returns it with the version of its deletion. */
  remove(place: Place): KubeObject | undefined {
    const before = this.get(place);
    if (before === undefined) return undefined;
    const version = this.#version + 1;
    this.#change(place, { version });
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
    this.#publish({ type: 'DELETED', ...place, version, object, before });
    return object;
  }

  historyOf(collection: string): History {
    const known = this.#histories.get(collection);
    if (known !== undefined) return known;
    const history = new History(this.#historyStart);
    this.#histories.set(collection, history);
    return history;
  }

  /** Drops the history. Clients can watch from the current version on. */
  dropHistory(): void {
    this.#historyStart = this.#version;
    this.#histories.clear();
  }

  listen(listener: (change: ObjectChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#log.close();
  }

  #publish(change: ObjectChange): void {
    this.historyOf(change.collection).add(change);
    for (const listener of [...this.#listeners]) listener(change);
  }

  #change(place: Place, { version, object }: { version: number; object?: KubeObject }): void {
    const key = `${place.collection} ${keyOf(place)}`;
    this.#log.append({ version, key, ...(object !== undefined && { object }) });
    this.#load({ version, key, ...(object !== undefined && { object }) });
    if (this.#log.shouldCompact) this.#log.rewrite(this.#entries());
  }

  #load({ version, key, object }: LogEntry): void {
    const blank = key.indexOf(' ');
    const collection = key.slice(0, blank);
    const objects = this.#collections.get(collection) ?? new Map<string, KubeObject>();
    this.#collections.set(collection, objects);
    if (object === undefined) objects.delete(key.slice(blank + 1));
    else objects.set(key.slice(blank + 1), object);
    this.#version = Math.max(this.#version, version);
  }

  *#entries(): Generator<LogEntry> {
    for (const [collection, objects] of this.#collections)
      for (const [key, object] of objects)
        yield { version: Number(object.metadata.resourceVersion), key: `${collection} ${key}`, object };
    // The last change may have been a deletion: the version must not go back.
    yield { version: this.#version, key: 'version /' };
  }
}
