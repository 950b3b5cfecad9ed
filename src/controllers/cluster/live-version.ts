import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { slim } from '../../runtime/slim.ts';
import { Failure } from '../../std/failure.ts';

interface Planned {
  readonly uid: string;
  /** The copy that the removal was planned on, where the operator keeps one. */
  readonly known: Stored<KubeObject> | undefined;
}

/**
 * The resourceVersion under which an object may be removed. Fails if the API server shows another object under this name, or
 * one that has been changed since the removal was planned. Its status may change at any time and does not matter.
 */
export async function versionToRemove(live: Promise<Stored<KubeObject>>, { uid, known }: Planned): Promise<string> {
  const object = await live;
  const { metadata, kind } = object;
  if (metadata.uid !== uid) throw new Failure('conflict', `${kind} ${metadata.name} is another object by now`);
  if (known?.metadata.uid === uid && !isDeepStrictEqual(partsOf(object), partsOf(known)))
    throw new Failure('conflict', `${kind} ${metadata.name} has changed since its removal was planned`);
  return metadata.resourceVersion;
}

/** What users and controllers decide by, trimmed as caches trim it: the live object has more than the copy. */
function partsOf(object: Stored<KubeObject>): readonly unknown[] {
  const trimmed = slim(object);
  const { ownerReferences = [], labels = {}, annotations = {}, finalizers = [] } = trimmed.metadata;
  return [ownerReferences, labels, annotations, finalizers, 'spec' in trimmed ? trimmed.spec : undefined];
}
