import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** What publishing needs of a controller's tools. */
export interface Publishing extends Pick<Tools, 'writer' | 'resource'> {
  readonly dialect: { readonly group: string };
  readonly tell?: Tools['tell'];
}

/**
 * Writes the status, if it says anything new. The version that was read is a condition: what we remember must not be
 * written over what another operator has remembered in the meantime.
 */
export async function publish(object: Stored<ClusterObject>, status: object, tools: Publishing): Promise<void> {
  if (isDeepStrictEqual(object.status ?? {}, status)) return;
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const at = { namespace, name };
  const kept = keptIn(object, tools);
  const body = { metadata: { resourceVersion }, status: { ...fieldsToDrop(object, kept), ...status } };
  const patch = (changes: { readonly body: object; readonly subresource?: 'status' }): Promise<void> =>
    tools.writer(keyOf(at)).patch(tools.resource, at, { type: 'merge', ...changes });
  try {
    await patch({ body, subresource: 'status' });
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    // A definition as old as the original's has no such subresource: there the status is a field like others.
    if (kind === 'not-found') return patch({ body }).then(() => tellOfDefinition(object, tools));
    if (kind !== 'forbidden') throw thrown;
    const annotations = { [annotation(tools)]: keepsake(object, kept, status) };
    return patch({ body: { metadata: { resourceVersion, annotations } } });
  }
  if (kept !== undefined) await patch({ body: { metadata: { uid, annotations: { [annotation(tools)]: null } } } });
}

/** Kinds whose old definition has been told of: once is enough for all of their objects. */
const toldOf = new WeakSet<object>();

function tellOfDefinition(object: Stored<ClusterObject>, { resource, tell }: Publishing): void {
  if (tell === undefined || toldOf.has(resource)) return;
  toldOf.add(resource);
  const { plural, group } = resource;
  const message =
    `the CustomResourceDefinition ${plural}.${group} has no status subresource: it is worked with, but with that of this ` +
    'operator kubectl refuses what cannot be meant, and shows more; apply it, and do not delete the one that is there';
  tell(object, { type: 'Warning', reason: 'OldDefinition', message });
}

/**
 * Where the status is kept when the operator may change the object but not its status, as under the book's own Role. What
 * it has to remember is in there, and it must not forget.
 */
const annotation = ({ dialect }: Pick<Publishing, 'dialect'>): string => `${dialect.group}/status`;

/** It says whose it is, since annotations are copied, and what stood in the field: once that has changed, the field is newer. */
interface Kept {
  readonly uid: string;
  readonly instead: unknown;
  readonly status: unknown;
}

function keptIn({ metadata }: Stored<ClusterObject>, tools: Pick<Publishing, 'dialect'>): Kept | undefined {
  try {
    const kept = JSON.parse(metadata.annotations?.[annotation(tools)] ?? '') as Kept;
    return kept.uid === metadata.uid ? kept : undefined;
  } catch {
    return undefined; // there is none, or somebody wrote it by hand; it is ours to write again
  }
}

/** What stands in the field itself, of an object whose status may be the one that is kept. */
const fieldOf = ({ status }: Stored<ClusterObject>, kept: Kept | undefined): unknown =>
  kept !== undefined && isDeepStrictEqual(status, kept.status) ? kept.instead : status;

const keepsake = (object: Stored<ClusterObject>, kept: Kept | undefined, status: object): string =>
  JSON.stringify({ uid: object.metadata.uid, instead: fieldOf(object, kept) ?? null, status } satisfies Kept);

const fieldsToDrop = (object: Stored<ClusterObject>, kept: Kept | undefined): Record<string, null> =>
  Object.fromEntries(Object.keys(fieldOf(object, kept) ?? {}).map((field) => [field, null]));

/** The object with the status it has, wherever that is kept. */
export function withStatus<T extends Stored<ClusterObject>>(object: T, tools: Pick<Publishing, 'dialect'>): T {
  const kept = keptIn(object, tools);
  const isOfToday = kept !== undefined && isDeepStrictEqual(object.status ?? null, kept.instead);
  return isOfToday ? { ...object, status: kept.status } : object;
}
