import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation } from 'rfc6902';
import { mergePatch } from '../../../lab/apiserver/patches/merge.ts';
import type { Patch, RemoveOptions } from '../../../src/kube/client.ts';
import { type KubeObject, keyOf, type NamespacedName } from '../../../src/kube/object.ts';
import { isOwnedBy } from '../../../src/std/owner.ts';
import { worldTime } from '../world/process.ts';
import type { Scheduler } from '../world/scheduler.ts';
import {
  absent,
  alreadyExists,
  assertSame,
  conflicting,
  isSelected,
  type KindName,
  kindKey,
  type ObjectSelection,
  type SimulatedObject,
} from './objects.ts';

export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly object: SimulatedObject;
  readonly old: SimulatedObject | undefined;
}

type Listener = (change: ObjectChange) => void;

interface Collection {
  readonly kind: KindName;
  readonly objects: Map<string, SimulatedObject>;
  readonly history: ObjectChange[];
  readonly listeners: Set<Listener>;
}

const protectedWhileInUse = 'kubernetes.io/pvc-protection';

/**
 * A lean API server: resourceVersions, UIDs, generations, conflicts, preconditions, the status subresource, grace
 * periods, finalizers, and garbage collection by ownerReferences. It validates no schema.
 */
export class ApiServer {
  readonly #scheduler: Scheduler;
  readonly #collections = new Map<string, Collection>();
  #version = 1;
  #uids = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get version(): number {
    return this.#version;
  }

  collection(kind: KindName): Collection {
    const key = kindKey(kind);
    const known = this.#collections.get(key);
    if (known !== undefined) return known;
    const made: Collection = { kind, objects: new Map(), history: [], listeners: new Set() };
    this.#collections.set(key, made);
    return made;
  }

  /** Calls the listener for each later change of a kind, when it is stored. */
  onChange(kind: KindName, listener: Listener): () => void {
    const { listeners } = this.collection(kind);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  find(kind: KindName, at: NamespacedName): SimulatedObject | undefined {
    return this.collection(kind).objects.get(keyOf(at));
  }

  get(kind: KindName, at: NamespacedName): SimulatedObject {
    const found = this.find(kind, at);
    if (found === undefined) throw absent(`${kind.plural} "${at.name}"`);
    return found;
  }

  list(kind: KindName, selection: ObjectSelection = {}): readonly SimulatedObject[] {
    const all = [...this.collection(kind).objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([, object]) => object).filter((object) => isSelected(object, selection));
  }

  create(kind: KindName, object: KubeObject): SimulatedObject {
    const { objects } = this.collection(kind);
    const key = keyOf(object.metadata);
    if (objects.has(key)) throw alreadyExists(`${kind.plural} "${object.metadata.name}"`);
    const finalizers = kind.plural === 'persistentvolumeclaims' ? { finalizers: [protectedWhileInUse] } : {};
    const metadata = {
      ...finalizers,
      ...object.metadata,
      uid: `uid-${++this.#uids}`,
      creationTimestamp: this.time(),
      generation: 1,
    };
    const status =
      kind.plural === 'pods' || kind.plural === 'persistentvolumeclaims' ? { phase: 'Pending' } : undefined;
    return this.#store(kind, { ...object, metadata, status } as never);
  }

  update(kind: KindName, object: KubeObject): SimulatedObject {
    const stored = this.get(kind, object.metadata);
    assertSame(stored, object.metadata);
    return this.#write(kind, stored, object as SimulatedObject);
  }

  patch(kind: KindName, at: NamespacedName, patch: Patch & { readonly subresource?: string }): SimulatedObject {
    const stored = this.get(kind, at);
    const patched = patched_(stored, patch);
    if (patch.type !== 'json') assertSame(stored, (patch.body as Partial<KubeObject>).metadata);
    if (patch.subresource === 'status') return this.#write(kind, stored, { ...stored, status: patched.status });
    return this.#write(kind, stored, { ...patched, status: stored.status });
  }

  /** Writes the status on behalf of a kubelet or a controller of Kubernetes. */
  setStatus(kind: KindName, at: NamespacedName, status: object): void {
    const stored = this.find(kind, at);
    if (stored !== undefined) this.#write(kind, stored, { ...stored, status });
  }

  /** Changes the object on behalf of Kubernetes or a user. */
  change(kind: KindName, at: NamespacedName, change: (object: SimulatedObject) => object): void {
    const stored = this.find(kind, at);
    if (stored !== undefined) this.#write(kind, stored, change(stored) as SimulatedObject);
  }

  remove(kind: KindName, at: NamespacedName, { preconditions, gracePeriodSeconds }: RemoveOptions = {}): void {
    const stored = this.get(kind, at);
    assertSame(stored, preconditions);
    const grace = graceOf(stored, gracePeriodSeconds);
    const { deletionTimestamp = this.time(), finalizers = [] } = stored.metadata;
    if (grace === 0 && finalizers.length === 0) return this.#drop(kind, stored);
    const metadata = { ...stored.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace };
    this.#write(kind, stored, { ...stored, metadata });
  }

  /** Removes the object of a pod that has stopped, or the finalizer of a PVC that no pod uses. */
  finish(kind: KindName, at: NamespacedName): void {
    const stored = this.find(kind, at);
    if (stored !== undefined) this.#drop(kind, stored);
  }

  time(): string {
    return worldTime(this.#scheduler)
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }

  #write(kind: KindName, stored: SimulatedObject, { ...next }: SimulatedObject): SimulatedObject {
    const { uid, resourceVersion, creationTimestamp, generation = 1 } = stored.metadata;
    const hasNewSpec = next.spec !== stored.spec && !isDeepStrictEqual(next.spec, stored.spec);
    const metadata = { ...next.metadata, uid, resourceVersion, creationTimestamp };
    const changed = {
      ...next,
      metadata: { ...metadata, generation: generation + Number(hasNewSpec) },
    } as SimulatedObject;
    if (isDeepStrictEqual(changed, stored)) return stored; // a write without an effect is not stored
    const isOver = metadata.deletionTimestamp !== undefined && isFinal(changed);
    if (!isOver) return this.#store(kind, changed, stored);
    this.#drop(kind, changed);
    return changed;
  }

  #store(kind: KindName, object: SimulatedObject, old?: SimulatedObject): SimulatedObject {
    const version = ++this.#version;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    this.collection(kind).objects.set(keyOf(stored.metadata), stored);
    this.#announce(kind, { type: old === undefined ? 'ADDED' : 'MODIFIED', version, object: stored, old });
    return stored;
  }

  #drop(kind: KindName, object: SimulatedObject): void {
    const version = ++this.#version;
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    this.collection(kind).objects.delete(keyOf(object.metadata));
    this.#announce(kind, { type: 'DELETED', version, object: gone, old: object });
    this.#scheduler.afterInert(this.#scheduler.random.between(100, 1_000), () => this.#collect(object.metadata.uid));
  }

  #announce(kind: KindName, change: ObjectChange): void {
    const { history, listeners } = this.collection(kind);
    history.push(change);
    for (const listener of listeners) listener(change);
  }

  /** Deletes the objects that have lost their last owner. */
  #collect(owner: string): void {
    for (const { kind, object } of this.#all())
      if (isOwnedBy(object, owner) && !this.#hasOwner(object)) this.remove(kind, object.metadata);
  }

  #hasOwner({ metadata }: SimulatedObject): boolean {
    const owners = new Set((metadata.ownerReferences ?? []).map(({ uid }) => uid));
    return this.#all().some(({ object }) => owners.has(object.metadata.uid));
  }

  #all(): readonly { readonly kind: KindName; readonly object: SimulatedObject }[] {
    return [...this.#collections.values()].flatMap(({ kind, objects }) =>
      [...objects.values()].map((object) => ({ kind, object })),
    );
  }
}

/** True if nothing keeps an object that is being deleted: neither finalizers nor a pod that still has to stop. */
const isFinal = ({ kind, metadata }: SimulatedObject): boolean =>
  (metadata.finalizers ?? []).length === 0 && (kind !== 'Pod' || metadata.deletionGracePeriodSeconds === 0);

/** A pod on a node stops first. All other objects have no grace period. */
function graceOf({ kind, spec }: SimulatedObject, wanted: number | undefined): number {
  const isOnNode = kind === 'Pod' && Reflect.get(Object(spec), 'nodeName') !== undefined;
  return isOnNode ? (wanted ?? 30) : 0;
}

function patched_(stored: SimulatedObject, patch: Patch): SimulatedObject {
  if (patch.type === 'merge') return mergePatch(stored, patch.body as never) as never;
  if (patch.type !== 'json') throw new Error(`a patch of type ${patch.type} is not simulated`);
  const copy = structuredClone(stored);
  const problem = applyPatch(copy, patch.body as Operation[]).find((each) => each !== null);
  if (problem !== undefined) throw conflicting(`${stored.kind} ${stored.metadata.name}: ${String(problem)}`);
  return copy;
}
