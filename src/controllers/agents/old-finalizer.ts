import { keyOf, type Stored } from '../../kube/object.ts';
import type { ClusterObject, Tools } from '../cluster/sources.ts';

interface Dropping extends Pick<Tools, 'writer' | 'resource'> {
  readonly dialect: { readonly oldFinalizer: string | undefined };
}

/** Whether an object is free of the original's finalizer, with which nobody could delete an object when the original is gone; if not, takes it away. */
export async function withoutOldFinalizer(object: Stored<ClusterObject>, tools: Dropping): Promise<boolean> {
  if (!hasOldFinalizer(object, tools)) return true;
  await dropFinalizer(object, tools);
  return false;
}

const hasOldFinalizer = ({ metadata }: Stored<ClusterObject>, { dialect }: Dropping): boolean =>
  dialect.oldFinalizer !== undefined && metadata.finalizers?.includes(dialect.oldFinalizer) === true;

async function dropFinalizer({ metadata }: Stored<ClusterObject>, tools: Dropping): Promise<void> {
  const { namespace, name, resourceVersion } = metadata;
  const finalizers = (metadata.finalizers ?? []).filter((each) => each !== tools.dialect.oldFinalizer);
  const body = { metadata: { resourceVersion, finalizers } };
  await tools.writer(keyOf(metadata)).patch(tools.resource, { namespace, name }, { type: 'merge', body });
}
