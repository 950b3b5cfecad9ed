import type { KubeObject, Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import type { Tools } from './controller.ts';

export interface Protection<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly finalizer: string;
}

/** Lets an object go, as far as this finalizer is concerned. Those of others stay, also one that came in this moment. */
export async function lift<T extends KubeObject>(
  { client }: Tools,
  { resource, finalizer }: Protection<T>,
  { metadata }: Stored<T>,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) return;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== finalizer) } };
  await unless('not-found', client.patch(resource, metadata, { type: 'merge', body }), undefined);
}
