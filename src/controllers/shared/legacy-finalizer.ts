import { keyOf, type Stored } from '../../kube/object.ts';
import type { ClusterObject, ControllerContext } from './context.ts';

interface FinalizerContext extends Pick<ControllerContext, 'writer' | 'resource'> {
  readonly dialect: { readonly oldFinalizer: string | undefined };
}

/**
 * Removes the finalizer of the original operator, which would block the deletion of the object. Returns true if it was
 * removed.
 */
export async function removeOldFinalizer(object: Stored<ClusterObject>, context: FinalizerContext): Promise<boolean> {
  if (!hasOldFinalizer(object, context)) return false;
  await dropFinalizer(object, context);
  return true;
}

const hasOldFinalizer = ({ metadata }: Stored<ClusterObject>, { dialect }: FinalizerContext): boolean =>
  dialect.oldFinalizer !== undefined && metadata.finalizers?.includes(dialect.oldFinalizer) === true;

async function dropFinalizer({ metadata }: Stored<ClusterObject>, context: FinalizerContext): Promise<void> {
  const { namespace, name, resourceVersion } = metadata;
  const finalizers = (metadata.finalizers ?? []).filter((each) => each !== context.dialect.oldFinalizer);
  const body = { metadata: { resourceVersion, finalizers } };
  await context.writer(keyOf(metadata)).patch(context.resource, { namespace, name }, { type: 'merge', body });
}
