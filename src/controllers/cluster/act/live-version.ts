import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Stored } from '../../../kube/object.ts';
import { slim } from '../../../runtime/slim.ts';
import { Failure } from '../../../std/failure.ts';

interface Planned {
  readonly uid: string;
  /** The cached object that the removal was planned on, if the kind is cached. */
  readonly known: Stored<KubeObject> | undefined;
}

/**
 * The resourceVersion with which an object may be removed. Fails if the API server has another object under this name,
 * or if the object has changed since the removal was planned. Changes of its status do not count.
 */
export async function versionToRemove(live: Promise<Stored<KubeObject>>, { uid, known }: Planned): Promise<string> {
  const object = await live;
  const { metadata, kind } = object;
  if (metadata.uid !== uid) throw new Failure('conflict', `${kind} ${metadata.name} is another object now`);
  if (known?.metadata.uid === uid && !isDeepStrictEqual(partsOf(object), partsOf(known)))
    throw new Failure('conflict', `${kind} ${metadata.name} has changed since its removal was planned`);
  return metadata.resourceVersion;
}

/** The compared parts of an object, trimmed as in the caches: the live object has more fields than the cached one. */
function partsOf(object: Stored<KubeObject>): readonly unknown[] {
  const trimmed = slim(object);
  const { ownerReferences = [], labels = {}, annotations = {}, finalizers = [] } = trimmed.metadata;
  return [ownerReferences, labels, annotations, finalizers, 'spec' in trimmed ? trimmed.spec : undefined];
}
