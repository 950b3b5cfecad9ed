import { mergePatch } from '../../lab/apiserver/patches/merge.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import type { KubeObject, ObjectMeta } from '../../src/kube/object.ts';
import { Failure } from '../../src/std/failure.ts';

export type StoredObject = KubeObject & {
  metadata: ObjectMeta & { uid: string; resourceVersion: string; creationTimestamp: string };
  spec?: never;
  status?: never;
};
interface Kind {
  readonly plural: string;
}
interface At {
  readonly name: string;
}
interface Change {
  readonly subresource?: string | undefined;
  readonly body: object;
}
interface Removal {
  readonly preconditions?: { readonly uid?: string };
}

/** Thrown where the operator is killed. */
export class Killed extends Error {}

/** The write at which the operator is killed: before the write takes effect, or after it but before the response. */
export interface KillPoint {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** Simulates an API server with versions, owners and finalizers; the operator can be killed at any write. */
export class SimulatedObjects {
  /** True if orphans are deleted at once; false if the garbage collector never runs. */
  collectsGarbage = true;
  /** True if deleted PVCs stay as terminating, as PVCs in use do. */
  keepsTerminatingPvcs = false;
  /** Called directly before and after each write. */
  onWrite: ((when: KillPoint['when']) => void) | undefined;
  /** Writes without a precondition on UID or resourceVersion, which could hit another object of the same name. */
  readonly unguarded: string[] = [];
  readonly #objects = new Map<string, StoredObject>();
  readonly #killPoint: KillPoint | undefined;
  #versions = 0;
  #writes = 0;

  constructor(killPoint?: KillPoint) {
    this.#killPoint = killPoint;
  }

  /** An independent copy. */
  copy(): SimulatedObjects {
    const copy = new SimulatedObjects();
    copy.collectsGarbage = this.collectsGarbage;
    copy.keepsTerminatingPvcs = this.keepsTerminatingPvcs;
    for (const [key, object] of this.#objects) copy.#objects.set(key, { ...object });
    copy.#versions = this.#versions;
    copy.#writes = this.#writes;
    return copy;
  }

  get writes(): number {
    return this.#writes;
  }

  all(plural: string): readonly StoredObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object);
  }

  find(plural: string, name: string): StoredObject | undefined {
    return this.#objects.get(`${plural}/${name}`);
  }

  /** Writes an object on behalf of a client other than the operator. */
  put(plural: string, object: object): void {
    const { metadata } = object as KubeObject;
    const version = ++this.#versions;
    const stamped = { uid: `uid-${version}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata };
    this.#objects.set(`${plural}/${metadata.name}`, {
      ...object,
      metadata: { ...stamped, resourceVersion: String(version) },
    } as never);
  }

  /** Deletes an object on behalf of a user; the garbage collector then deletes its dependents. */
  deleteObject(plural: string, name: string): void {
    this.#objects.delete(`${plural}/${name}`);
    this.#collect();
  }

  readonly client = {
    get: async ({ plural }: Kind, { name }: At): Promise<StoredObject> => {
      const object = this.find(plural, name);
      if (object === undefined) throw new Failure('not-found', `no ${plural} ${name}`);
      return object;
    },
    list: async ({ plural }: Kind): Promise<{ items: readonly StoredObject[] }> => ({ items: this.all(plural) }),
  };

  readonly writer = {
    create: ({ plural }: Kind, object: KubeObject): Promise<void> =>
      this.#write(() => {
        if (this.find(plural, object.metadata.name) !== undefined)
          throw new ApiFailure('conflict', 'object exists already', { reason: 'AlreadyExists' });
        this.put(plural, object);
      }),
    patch: ({ plural }: Kind, { name }: At, { body }: Change): Promise<void> =>
      this.#write(() => {
        const before = this.find(plural, name);
        if (before === undefined) throw new Failure('not-found', `no ${plural} ${name}`);
        const expected = (body as { metadata?: Partial<ObjectMeta> }).metadata ?? {};
        if (expected.uid === undefined && expected.resourceVersion === undefined)
          this.unguarded.push(`patch of ${plural} ${name}`);
        for (const field of ['uid', 'resourceVersion'] as const)
          if (expected[field] !== undefined && expected[field] !== before.metadata[field])
            throw new Failure('conflict', `another ${field} of ${plural} ${name}`);
        this.put(plural, mergePatch(before, body as never));
        this.#collect();
      }),
    remove: ({ plural }: Kind, { name }: At, { preconditions }: Removal = {}): Promise<void> =>
      this.#write(() => {
        const there = this.find(plural, name)?.metadata.uid;
        if (preconditions?.uid === undefined) this.unguarded.push(`deletion of ${plural} ${name}`);
        else if (there !== undefined && there !== preconditions.uid)
          throw new Failure('conflict', `another uid of ${plural} ${name}`);
        if (!this.#objects.delete(`${plural}/${name}`)) throw new Failure('not-found', `no ${plural} ${name}`);
        this.#collect();
      }),
  };

  async #write(apply: () => void): Promise<void> {
    const isKilled = this.#killPoint?.write === this.#writes++;
    if (isKilled && this.#killPoint?.when === 'before') throw new Killed('before a write');
    this.onWrite?.('before');
    apply();
    this.onWrite?.('after');
    if (isKilled) throw new Killed('after a write');
  }

  /** Deletes objects that have lost all their owners. */
  #collect(): void {
    if (!this.collectsGarbage) return;
    const existing = new Set([...this.#objects.values()].map(({ metadata }) => metadata.uid));
    for (const [key, { metadata }] of this.#objects) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length > 0 && !owners.some(({ uid }) => existing.has(uid))) this.#deleteOrTerminate(key);
    }
  }

  #deleteOrTerminate(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined || !this.keepsTerminatingPvcs || !key.startsWith('persistentvolumeclaims/'))
      this.#objects.delete(key);
    else object.metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  }

  /** Removes all terminating objects. */
  removeTerminating(): void {
    for (const [key, { metadata }] of this.#objects) if (metadata.deletionTimestamp) this.#objects.delete(key);
  }
}
