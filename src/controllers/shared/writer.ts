import type { KubeClient, Patch, RemoveOptions, WriteOptions } from '../../kube/client.ts';
import type { KubeObject, NamespacedName, Stored } from '../../kube/object.ts';
import { keyOf, parseKey } from '../../kube/object.ts';
import { type Resource, secrets } from '../../kube/resource.ts';
import type { Expectations, StoreView } from '../../runtime/expectations.ts';
import { Failure } from '../../std/failure.ts';
import { versionToRemove } from '../cluster/act/live-version.ts';
import { createAdmitted } from '../cluster/observe/admitted.ts';

/**
 * Every deletion has the UID as a precondition. Without a resourceVersion the object is read once more before it is
 * deleted.
 */
export interface Removal extends RemoveOptions {
  readonly preconditions: { readonly uid: string; readonly resourceVersion?: string };
}

/**
 * Writes for one resource, in its own namespace only. Each write is remembered until the cache shows it, and the next
 * pass waits for that.
 */
export interface Writer {
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<void>;
  patch<T extends KubeObject>(resource: Resource<T>, at: NamespacedName, patch: Patch & WriteOptions): Promise<void>;
  remove<T extends KubeObject>(resource: Resource<T>, at: NamespacedName, options: Removal): Promise<void>;
}

export interface WriterOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'patch' | 'remove'>;
  readonly expectations: Expectations;
  /** The namespace of the operator, where agents with its credentials run. */
  readonly agentNamespace?: string | undefined;
  /** Called after a status was written. */
  readonly onStatus: () => void;
  /** Called after a Secret was written. */
  readonly onSecret?: (() => void) | undefined;
  /** The cache of this kind, if there is one. */
  readonly storeOf: (resource: Resource<KubeObject>) => StoreView | undefined;
}

export function writerFor(key: string, options: WriterOptions): Writer {
  const { client, expectations, storeOf, onStatus, onSecret } = options;
  const within = withinNamespaces([parseKey(key).namespace, options.agentNamespace]);
  const wrote = (resource: Resource<KubeObject>, object: Stored<KubeObject>): void => {
    const store = storeOf(resource);
    if (store !== undefined) expectations.wrote(key, store, object);
    if (resource.plural === secrets.plural) onSecret?.();
  };
  return {
    create: async (resource, object, how) => {
      within(resource, object.metadata);
      wrote(resource, await createAdmitted((each) => client.create(resource, each, how), object));
    },
    patch: async (resource, at, patch) => {
      within(resource, at);
      wrote(resource, await client.patch(resource, at, patch));
      if (patch.subresource === 'status') onStatus();
    },
    remove: async (resource, at, how) => {
      within(resource, at);
      const store = storeOf(resource);
      const known = store?.get(keyOf(at));
      const { uid, resourceVersion } = how.preconditions;
      const version = resourceVersion ?? (await versionToRemove(client.get(resource, at, how), { uid, known }));
      await client.remove(resource, at, { ...how, preconditions: { uid, resourceVersion: version } });
      if (resource.plural === secrets.plural) onSecret?.();
      if (store !== undefined && known !== undefined) expectations.removed(key, store, known);
    },
  };
}

/** Rejects every write to an object in another namespace. */
const withinNamespaces =
  (allowed: readonly (string | undefined)[]) =>
  ({ kind }: Resource<KubeObject>, { namespace, name }: NamespacedName): void => {
    if (allowed.includes(namespace)) return;
    throw new Failure(
      'bug',
      `${kind} ${name} is in namespace "${namespace}", which is not the namespace of the resource`,
    );
  };
