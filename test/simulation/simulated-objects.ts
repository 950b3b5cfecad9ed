import { ApiFailure } from '../../src/kube/errors.ts';
import type { KubeObject, ObjectMeta } from '../../src/kube/object.ts';
import { mergePatch } from '../../src/lab/apiserver/patches/merge.ts';
import { Failure } from '../../src/std/failure.ts';

export type Kept = KubeObject & {
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
  readonly body: object;
}
interface Removal {
  readonly preconditions?: { readonly uid?: string };
}

/** Thrown where the operator is killed. */
export class Killed extends Error {}

/** When the operator is killed: before a write has any effect, or when it has had it and nobody knows. */
export interface Death {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** An API server that keeps objects, their versions, owners and finalizers, and at which the operator may die. */
export class SimulatedObjects {
  /** Whether what has lost its owner goes at once, or not for as long as anybody looks. */
  collects = true;
  /** Whether volumes that go are still to be seen for a while, as those that somebody may be using are. */
  linger = false;
  /** Called right before and right after each write. */
  onWrite: ((when: Death['when']) => void) | undefined;
  /** Writes that could have met another object of the same name: without its uid, and without the version that was seen. */
  readonly unguarded: string[] = [];
  readonly #objects = new Map<string, Kept>();
  readonly #death: Death | undefined;
  #versions = 0;
  #writes = 0;

  constructor(death?: Death) {
    this.#death = death;
  }

  /** The same objects, which go their own way from here on. */
  copy(): SimulatedObjects {
    const copy = new SimulatedObjects();
    copy.collects = this.collects;
    copy.linger = this.linger;
    for (const [key, object] of this.#objects) copy.#objects.set(key, { ...object });
    copy.#versions = this.#versions;
    copy.#writes = this.#writes;
    return copy;
  }

  get writes(): number {
    return this.#writes;
  }

  all(plural: string): readonly Kept[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object);
  }

  find(plural: string, name: string): Kept | undefined {
    return this.#objects.get(`${plural}/${name}`);
  }

  /** What others than the operator do. */
  put(plural: string, object: object): void {
    const { metadata } = object as KubeObject;
    const version = ++this.#versions;
    const stamped = { uid: `uid-${version}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata };
    this.#objects.set(`${plural}/${metadata.name}`, {
      ...object,
      metadata: { ...stamped, resourceVersion: String(version) },
    } as never);
  }

  /** Somebody deletes it; what it owned goes with it. */
  vanish(plural: string, name: string): void {
    this.#objects.delete(`${plural}/${name}`);
    this.#collect();
  }

  readonly client = {
    get: async ({ plural }: Kind, { name }: At): Promise<Kept> => {
      const object = this.find(plural, name);
      if (object === undefined) throw new Failure('not-found', `no ${plural} ${name}`);
      return object;
    },
    list: async ({ plural }: Kind): Promise<{ items: readonly Kept[] }> => ({ items: this.all(plural) }),
  };

  readonly writer = {
    create: ({ plural }: Kind, object: KubeObject): Promise<void> =>
      this.#write(() => {
        if (this.find(plural, object.metadata.name) !== undefined)
          throw new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' });
        this.put(plural, object);
      }),
    patch: ({ plural }: Kind, { name }: At, { body }: Change): Promise<void> =>
      this.#write(() => {
        const before = this.find(plural, name);
        if (before === undefined) throw new Failure('not-found', `no ${plural} ${name}`);
        const asked = (body as { metadata?: Partial<ObjectMeta> }).metadata ?? {};
        if (asked.uid === undefined && asked.resourceVersion === undefined)
          this.unguarded.push(`patch of ${plural} ${name}`);
        for (const field of ['uid', 'resourceVersion'] as const)
          if (asked[field] !== undefined && asked[field] !== before.metadata[field])
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
    const isLast = this.#death?.write === this.#writes++;
    if (isLast && this.#death?.when === 'before') throw new Killed('before a write');
    this.onWrite?.('before');
    apply();
    this.onWrite?.('after');
    if (isLast) throw new Killed('after a write');
  }

  /** Whatever had owners, and has none any more, goes. */
  #collect(): void {
    if (!this.collects) return;
    const there = new Set([...this.#objects.values()].map(({ metadata }) => metadata.uid));
    for (const [key, { metadata }] of this.#objects) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length > 0 && !owners.some(({ uid }) => there.has(uid))) this.#go(key);
    }
  }

  #go(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined || !this.linger || !key.startsWith('persistentvolumeclaims/')) this.#objects.delete(key);
    else object.metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  }

  /** Those that were still to be seen are gone. */
  letGo(): void {
    for (const [key, { metadata }] of this.#objects) if (metadata.deletionTimestamp) this.#objects.delete(key);
  }
}
