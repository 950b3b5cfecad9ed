import type { ReadRestore } from '../../../apis/common/restore-dialect.ts';
import type { ObjectRef } from '../../../core/restore/model.ts';
import type { RestoreStep } from '../../../core/restore/step.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../../kube/object.ts';
import { pods, type Resource, secrets } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { Writer } from '../../shared/writer.ts';
import type { RestoreContext } from '../context.ts';
import { identitySecret, storeProxyPod } from '../store-proxy-objects.ts';
import { accessSecretFor, storeProxyIdentity, storeProxyOf, unneededStoreProxies } from '../store-proxy-state.ts';
import { imageOf } from './agent-image.ts';

interface ProxyContext {
  readonly read: ReadRestore;
  readonly controller: RestoreContext;
  readonly writer: Writer;
}

/** Steps on the store proxy. They need no cluster. */
export type StoreProxyStep = Extract<RestoreStep, { readonly kind: `${string}-store-proxy` }>;

export const isStoreProxyStep = (step: RestoreStep): step is StoreProxyStep => step.kind.endsWith('-store-proxy');

export async function performOnStoreProxy(step: StoreProxyStep, context: ProxyContext): Promise<void> {
  const { read, controller, writer } = context;
  switch (step.kind) {
    case 'start-store-proxy':
      return createIfMissing(pods, storeProxyPod(read, imageOf(controller), controller) as never, writer);
    case 'identify-store-proxy':
      return createIfMissing(secrets, await identitySecret(existing(context), controller), writer);
    case 'publish-store-proxy':
      return publishAccess(context);
    case 'discard-store-proxy':
      return remove(step.pod, controller.operators.namespace, writer);
    default:
      return step satisfies never;
  }
}

function existing({ read, controller }: ProxyContext): Stored<Pod> {
  const pod = storeProxyOf(read.intent, controller);
  if (pod === undefined) throw new Failure('conflict', 'the store proxy was deleted');
  return pod;
}

async function createIfMissing<T extends KubeObject>(resource: Resource<T>, wanted: T, writer: Writer): Promise<void> {
  await writer.create(resource, wanted).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // it is terminating, or not in the cache yet
  });
}

/**
 * Writes the address and the token of the store proxy for the agents of the restore. A new store proxy changes both.
 */
async function publishAccess(context: ProxyContext): Promise<void> {
  const { read, controller, writer } = context;
  const pod = existing(context);
  const wanted = accessSecretFor(read, pod, await storeProxyIdentity(pod, controller));
  if (wanted === undefined) throw new Failure('conflict', `store proxy ${pod.metadata.name} does not run`);
  const { namespace, name } = wanted.metadata;
  const found = await unless('not-found', controller.client.get(secrets, { namespace, name }), undefined);
  if (found === undefined) return writer.create(secrets, wanted);
  const { uid, resourceVersion } = found.metadata;
  const body = { metadata: { uid, resourceVersion }, data: wanted.data };
  await writer.patch(secrets, { namespace, name }, { type: 'merge', body });
}

async function remove({ name, uid }: ObjectRef, namespace: string, writer: Writer): Promise<void> {
  await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
}

/**
 * Deletes store proxies of a finished or deleted restore: ownerReferences do not cross namespaces. Each Pod owns its
 * Secret. This is no step: a deleted restore has no plan.
 */
export async function deleteStoreProxies(
  key: string,
  current: ReadRestore | undefined,
  context: RestoreContext,
): Promise<void> {
  for (const { metadata } of unneededStoreProxies(key, current, context))
    if (metadata.deletionTimestamp === undefined)
      await remove(metadata, context.operators.namespace, context.writer(key));
}
