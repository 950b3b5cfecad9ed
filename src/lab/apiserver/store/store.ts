import type { KubeObject } from '../object.ts';
import { type Happening, History } from './history.ts';
import { type Change, Log } from './log.ts';

/** Where an object is: its collection is `group/plural`, which all versions of a resource share. */
export interface Place {
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
}

const keyOf = ({ namespace, name }: Omit<Place, 'collection'>): string => `${namespace}/${name}`;

/**
 * All objects, with one version that counts every change of any of them. What is in here is never changed, only replaced:
 * whoever reads an object may keep it.
 */
export class Store {
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #histories = new Map<string, History>();
  readonly #log: Log;
  readonly #listeners = new Set<(happening: Happening) => void>();
  #version = 0;
  /** What happened before is not remembered. */
  #began = 0;

  constructor(directory: string) {
    this.#log = new Log(directory);
    for (const change of this.#log.read()) this.#load(change);
    this.#began = this.#version;
  }

  get version(): number {
    return this.#version;
  }

  get(place: Place): KubeObject | undefined {
    return this.#collections.get(place.collection)?.get(keyOf(place));
  }

  /** The objects of a collection, in the order of their namespaces and names. */
  list(collection: string, namespace?: string): readonly KubeObject[] {
    const all = [...(this.#collections.get(collection) ?? [])];
    const chosen = namespace === undefined ? all : all.filter(([key]) => key.startsWith(`${namespace}/`));
    return chosen.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  get collections(): readonly string[] {
    return [...this.#collections.keys()];
  }

  /** Keeps an object under a new version, which is written into it. */
  put(place: Place, object: KubeObject): KubeObject {
    const version = this.#version + 1;
    const kept = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const before = this.get(place);
    this.#change(place, { version, object: kept });
    this.#tell({ type: before === undefined ? 'ADDED' : 'MODIFIED', ...place, version, object: kept, before });
    return kept;
  }

  /** Forgets an object, and gives it back with the version of its end. */
  remove(place: Place): KubeObject | undefined {
    const before = this.get(place);
    if (before === undefined) return undefined;
    const version = this.#version + 1;
    this.#change(place, { version });
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
    this.#tell({ type: 'DELETED', ...place, version, object, before });
    return object;
  }

  historyOf(collection: string): History {
    const known = this.#histories.get(collection);
    if (known !== undefined) return known;
    const made = new History(this.#began);
    this.#histories.set(collection, made);
    return made;
  }

  /** From here on clients may ask what happened: they cannot know of versions before. */
  forgetThePast(): void {
    this.#began = this.#version;
    this.#histories.clear();
  }

  listen(listener: (happening: Happening) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#log.close();
  }

  #tell(happening: Happening): void {
    this.historyOf(happening.collection).add(happening);
    for (const listener of [...this.#listeners]) listener(happening);
  }

  #change(place: Place, { version, object }: { version: number; object?: KubeObject }): void {
    const key = `${place.collection} ${keyOf(place)}`;
    this.#log.append({ version, key, ...(object !== undefined && { object }) });
    this.#load({ version, key, ...(object !== undefined && { object }) });
    if (this.#log.isLong) this.#log.rewrite(this.#everything());
  }

  #load({ version, key, object }: Change): void {
    const blank = key.indexOf(' ');
    const collection = key.slice(0, blank);
    const objects = this.#collections.get(collection) ?? new Map<string, KubeObject>();
    this.#collections.set(collection, objects);
    if (object === undefined) objects.delete(key.slice(blank + 1));
    else objects.set(key.slice(blank + 1), object);
    this.#version = Math.max(this.#version, version);
  }

  *#everything(): Generator<Change> {
    for (const [collection, objects] of this.#collections)
      for (const [key, object] of objects)
        yield { version: Number(object.metadata.resourceVersion), key: `${collection} ${key}`, object };
    // A removal may have been the newest change: the count must go on from there.
    yield { version: this.#version, key: 'version /' };
  }
}
