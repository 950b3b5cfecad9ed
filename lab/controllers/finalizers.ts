import type { KubeObject, Stored } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { unless } from '../../src/std/failure.ts';
import type { ControllerContext } from './controller.ts';

export interface Protection<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly finalizer: string;
}

/** Removes one finalizer from an object. The resourceVersion protects finalizers added meanwhile. */
export async function removeFinalizer<T extends KubeObject>(
  { client }: ControllerContext,
  { resource, finalizer }: Protection<T>,
  { metadata }: Stored<T>,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) return;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== finalizer) } };
  await unless('not-found', client.patch(resource, metadata, { type: 'merge', body }), undefined);
}
