import type { ObjectRef } from '../../../core/restore/model.ts';
import type { RestoreStep } from '../../../core/restore/step.ts';
import type { KubeObject, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../../kube/resource.ts';
import { unless } from '../../../std/failure.ts';
import { isMadeFor } from '../pods-and-pvcs.ts';
import type { RestoreStepContext } from './perform.ts';
import type { StoreProxyStep } from './store-proxy.ts';

type DiscardContext = Pick<RestoreStepContext, 'read' | 'controller' | 'writer'>;

/** Steps that delete objects of the restore itself. They need no cluster. */
export type Discard = Exclude<Extract<RestoreStep, { readonly kind: `discard-${string}` }>, StoreProxyStep>;

export const isDiscard = (step: Exclude<RestoreStep, StoreProxyStep>): step is Discard =>
  step.kind.startsWith('discard-');

export async function discard(step: Discard, context: DiscardContext): Promise<void> {
  switch (step.kind) {
    case 'discard-proof':
      return removeAll(pods, [step.proof], context);
    case 'discard-seed':
      return discardSeed(step.name, context);
    case 'discard-old-data':
      return removeAll(persistentVolumeClaims, step.claims, context);
    default:
      return step satisfies never;
  }
}

/** Deletes the PVC before the Pod: the step repeats while the Pod exists, and Kubernetes removes the PVC after it. */
async function discardSeed(name: string, context: DiscardContext): Promise<void> {
  for (const resource of [persistentVolumeClaims, pods] as readonly Resource<KubeObject>[]) {
    const own = await ownObject(resource, name, context);
    if (own !== undefined) await removeAll(resource, [own.metadata], context);
  }
}

export async function removeAll<T extends KubeObject>(
  resource: Resource<T>,
  objects: readonly ObjectRef[],
  { read, writer }: Pick<RestoreStepContext, 'read' | 'writer'>,
): Promise<void> {
  const { namespace } = read.intent;
  for (const { name, uid } of objects)
    await unless('not-found', writer.remove(resource, { namespace, name }, { preconditions: { uid } }), undefined);
}

/** The object of that name if this restore created it: the cluster may have created a member of that name meanwhile. */
export async function ownObject<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { read: { intent }, controller }: Pick<RestoreStepContext, 'read' | 'controller'>,
): Promise<Stored<T> | undefined> {
  const { namespace } = intent;
  const found = await unless('not-found', controller.client.get(resource, { namespace, name }), undefined);
  return found !== undefined && isMadeFor(found, intent, controller) ? found : undefined;
}
