import { mergePatch } from '../../lab/apiserver/patches/merge.ts';
import type { KubeClient, Patch, Selection, WatchOptions } from '../../src/kube/client.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import { type KubeObject, keyOf, type NamespacedName, type Stored } from '../../src/kube/object.ts';
import type { WatchEvent } from '../../src/kube/watch-events.ts';
import { Failure } from '../../src/std/failure.ts';

type StoredObject = Stored<KubeObject> & { readonly spec?: unknown; readonly status?: unknown };
type Kind = { readonly plural: string; readonly kind: string };
type ObjectEvent = WatchEvent<KubeObject> & { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' };

/** An API server in memory that serves watches and counts requests. */
export class SimulatedApi {
  /** Requests by verb and resource, such as `get secrets`. */
  readonly requests: string[] = [];
  readonly #objects = new Map<string, StoredObject>();
  readonly #history: (readonly [plural: string, event: ObjectEvent])[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 0;

  all(plural: string): readonly StoredObject[] {
    return [...this.#objects].filter(([at]) => at.startsWith(`${plural} `)).map(([, object]) => object);
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length;
  }

  /** Writes an object on behalf of a client other than the operator. */
  put(plural: string, object: object): StoredObject {
    const { metadata } = object as KubeObject;
    const at = `${plural} ${keyOf(metadata)}`;
    const before = this.#objects.get(at);
    const resourceVersion = String(++this.#version);
    const stamped = { uid: `uid-${resourceVersion}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata };
    const kept = { ...object, metadata: { ...stamped, resourceVersion, generation: this.#generation(before, object) } };
    this.#objects.set(at, kept as StoredObject);
    this.#notifyWatchers(plural, { type: before === undefined ? 'ADDED' : 'MODIFIED', object: kept as StoredObject });
    return kept as StoredObject;
  }

  /** Deletes an object and its dependents. */
  deleteObject(plural: string, name: string): void {
    const object = this.all(plural).find(({ metadata }) => keyOf(metadata) === name);
    if (object === undefined) return;
    this.#objects.delete(`${plural} ${name}`);
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    this.#notifyWatchers(plural, { type: 'DELETED', object: gone });
    for (const [at, { metadata }] of [...this.#objects])
      if (metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
        this.deleteObject(at.split(' ')[0] ?? '', keyOf(metadata));
  }

  get client(): KubeClient {
    const countRequest = (verb: string, { plural }: Kind): void => void this.requests.push(`${verb} ${plural}`);
    return {
      get: async (kind: Kind, at: NamespacedName) => {
        countRequest('get', kind);
        return this.#found(kind, at);
      },
      list: async (kind: Kind, selection?: Selection) => {
        countRequest('list', kind);
        return this.#listed(kind, selection);
      },
      pages: (kind: Kind, selection?: Selection) => {
        countRequest('list', kind);
        return only(this.#listed(kind, selection));
      },
      watch: (kind: Kind, selection: WatchOptions) => this.#events(kind, selection),
      create: async (kind: Kind, object: KubeObject) => {
        countRequest('create', kind);
        const { namespace, name } = object.metadata;
        if (this.#objects.has(`${kind.plural} ${keyOf({ namespace, name })}`))
          throw new ApiFailure('conflict', `${name} exists already`, { reason: 'AlreadyExists' });
        return this.put(kind.plural, object);
      },
      patch: async (kind: Kind, at: NamespacedName, patch: Patch) => {
        countRequest('patch', kind);
        return this.put(kind.plural, mergePatch(this.#found(kind, at), patch.body as never));
      },
      remove: async (kind: Kind, at: NamespacedName) => {
        countRequest('remove', kind);
        this.deleteObject(kind.plural, keyOf(this.#found(kind, at).metadata));
      },
    } as unknown as KubeClient;
  }

  #generation(before: StoredObject | undefined, object: { readonly spec?: unknown }): number {
    const { generation = 0 } = before?.metadata ?? {};
    return JSON.stringify(before?.spec) === JSON.stringify(object.spec) ? Math.max(generation, 1) : generation + 1;
  }

  #found({ plural }: Kind, { namespace, name }: NamespacedName): StoredObject {
    const found = this.#objects.get(`${plural} ${keyOf({ namespace, name })}`);
    if (found === undefined) throw new Failure('not-found', `${plural} ${name} not found`);
    return found;
  }

  #listed(kind: Kind, selection?: Selection) {
    const items = this.all(kind.plural).filter((object) => isSelected(object, selection));
    return { items, resourceVersion: String(this.#version) };
  }

  #notifyWatchers(plural: string, event: ObjectEvent): void {
    this.#history.push([plural, event]);
    for (const wake of this.#watchers) wake();
  }

  /** Yields the events after the requested resourceVersion. */
  async *#events({ plural }: Kind, selection: WatchOptions): AsyncGenerator<ObjectEvent> {
    const { resourceVersion } = selection;
    for (let next = 0; selection.signal?.aborted !== true; ) {
      const [of, event] = this.#history[next++] ?? [];
      if (event === undefined) {
        next--;
        await this.#nextEvent(selection.signal);
      } else if (of === plural && isLater(event, resourceVersion) && isSelected(event.object, selection)) yield event;
    }
  }

  async #nextEvent(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watchers.add(resolve);
    signal?.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#watchers.delete(resolve);
  }
}

const isLater = ({ object }: ObjectEvent, version: string): boolean =>
  Number(object.metadata.resourceVersion) > Number(version);

async function* only<T>(page: T): AsyncGenerator<T> {
  yield page;
}

function isSelected({ metadata }: KubeObject, { namespace, labelSelector = '' }: Selection = {}): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  const wanted = labelSelector.split(',').flatMap((each) => (each === '' ? [] : [each.split('=')]));
  return wanted.every(([label = '', value]) =>
    value === undefined ? metadata.labels?.[label] !== undefined : metadata.labels?.[label] === value,
  );
}
