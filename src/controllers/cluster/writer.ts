import type { KubeClient, Patch, RemoveOptions, WriteOptions } from '../../kube/client.ts';
import type { At, KubeObject, Stored } from '../../kube/object.ts';
import { keyOf } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Expectations, Seen } from '../../runtime/expectations.ts';
import { createAdmitted } from './admitted.ts';

/** Writes for one cluster, and has each write remembered until the cache has seen it: the next pass waits for that. */
export interface Writer {
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<void>;
  patch<T extends KubeObject>(resource: Resource<T>, at: At, patch: Patch & WriteOptions): Promise<void>;
  remove<T extends KubeObject>(resource: Resource<T>, at: At, options?: RemoveOptions): Promise<void>;
}

export interface WriterOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch' | 'remove'>;
  readonly expectations: Expectations;
  /** The copy that the operator keeps of this kind, if it keeps one. */
  /** Told when a status was written. */
  readonly onStatus: () => void;
  readonly storeOf: (resource: Resource<KubeObject>) => Seen | undefined;
}

export function writerFor(key: string, { client, expectations, storeOf, onStatus }: WriterOptions): Writer {
  const wrote = (resource: Resource<KubeObject>, object: Stored<KubeObject>): void => {
    const store = storeOf(resource);
    if (store !== undefined) expectations.wrote(key, store, object);
  };
  return {
    create: async (resource, object, options) =>
      wrote(resource, await createAdmitted((each) => client.create(resource, each, options), object)),
    patch: async (resource, at, patch) => {
      wrote(resource, await client.patch(resource, at, patch));
      if (patch.subresource === 'status') onStatus();
    },
    remove: async (resource, at, options) => {
      const store = storeOf(resource);
      const known = store?.get(keyOf(at));
      await client.remove(resource, at, options);
      if (store !== undefined && known !== undefined) expectations.removed(key, store, known);
    },
  };
}
