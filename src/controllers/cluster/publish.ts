import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** What publishing needs of a controller's tools. */
export interface Publishing extends Pick<Tools, 'writer' | 'resource'> {
  readonly dialect: { readonly group: string };
}

/**
 * Writes the status, if it says anything new. The version that was read is a condition: what we remember must not be
 * written over what another operator has remembered in the meantime.
 */
export async function publish(object: Stored<ClusterObject>, status: object, tools: Publishing): Promise<void> {
  const previous: object = object.status ?? {};
  if (isDeepStrictEqual(previous, status)) return;
  const gone = Object.fromEntries(
    Object.keys(previous)
      .filter((field) => !(field in status))
      .map((field) => [field, null]),
  );
  const { namespace, name, resourceVersion } = object.metadata;
  const at = { namespace, name };
  const writer = tools.writer(keyOf(at));
  const body = { metadata: { resourceVersion }, status: { ...gone, ...status } };
  try {
    await writer.patch(tools.resource, at, { type: 'merge', body, subresource: 'status' });
  } catch (thrown) {
    if (Failure.from(thrown).kind !== 'forbidden') throw thrown;
    const annotations = { [statusAnnotation(tools)]: JSON.stringify(status) };
    await writer.patch(tools.resource, at, { type: 'merge', body: { metadata: { resourceVersion, annotations } } });
  }
}

/**
 * Where the status is kept when the operator may change the object but not its status, as under the book's own Role. What
 * it has to remember is in there, and it must not forget.
 */
const statusAnnotation = ({ dialect }: Pick<Publishing, 'dialect'>): string => `${dialect.group}/status`;

/** The object with the status it has, wherever that is kept. */
export function withStatus(object: Stored<ClusterObject>, tools: Publishing): Stored<ClusterObject> {
  const kept = object.metadata.annotations?.[statusAnnotation(tools)];
  if (object.status !== undefined || kept === undefined) return object;
  try {
    return { ...object, status: JSON.parse(kept) as unknown };
  } catch {
    return object; // somebody wrote it by hand; it is ours to write again
  }
}
