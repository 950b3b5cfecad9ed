import type { KubeClient, Patch, RemoveOptions, WriteOptions } from '../../kube/client.ts';
import type { At, KubeObject, Stored } from '../../kube/object.ts';
import { atOf, keyOf } from '../../kube/object.ts';
import { type Resource, secrets } from '../../kube/resource.ts';
import type { Expectations, Seen } from '../../runtime/expectations.ts';
import { Failure } from '../../std/failure.ts';
import { createAdmitted } from './admitted.ts';
import { versionToRemove } from './live-version.ts';

/** No object is removed by its name alone. Without a resourceVersion the object is read once more before it goes. */
export interface Removal extends RemoveOptions {
  readonly preconditions: { readonly uid: string; readonly resourceVersion?: string };
}

/**
 * Writes for one resource, in its own namespace and nowhere else, and has each write remembered until the cache has seen
 * it: the next pass waits for that.
 */
export interface Writer {
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<void>;
  patch<T extends KubeObject>(resource: Resource<T>, at: At, patch: Patch & WriteOptions): Promise<void>;
  remove<T extends KubeObject>(resource: Resource<T>, at: At, options: Removal): Promise<void>;
}

export interface WriterOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'patch' | 'remove'>;
  readonly expectations: Expectations;
  /** The operator's own namespace, where agents with its credentials work. */
  readonly agentNamespace?: string | undefined;
  /** Called when a status was written. */
  readonly onStatus: () => void;
  /** Called when a Secret was written. */
  readonly onSecret?: (() => void) | undefined;
  /** The copy that the operator keeps of this kind, if it keeps one. */
  readonly storeOf: (resource: Resource<KubeObject>) => Seen | undefined;
}

export function writerFor(key: string, options: WriterOptions): Writer {
  const { client, expectations, storeOf, onStatus, onSecret } = options;
  const within = withinNamespaces([atOf(key).namespace, options.agentNamespace]);
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

/** Whatever a lookup has found, no write for a resource reaches an object of another namespace. */
const withinNamespaces =
  (allowed: readonly (string | undefined)[]) =>
  ({ kind }: Resource<KubeObject>, { namespace, name }: At): void => {
    if (allowed.includes(namespace)) return;
    throw new Failure('bug', `${kind} ${name} is in namespace "${namespace}", which is not the resource's own`);
  };
