import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { storable } from '../../std/storable.ts';
import type { ClusterObject, ControllerContext } from './context.ts';
import type { Writer } from './writer.ts';

/** The part of a controller context that publishing needs. */
export interface PublishContext extends Pick<ControllerContext, 'writer' | 'resource'> {
  readonly dialect: { readonly group: string };
  readonly recordEvent?: ControllerContext['recordEvent'];
}

/**
 * Writes the status if it has changed. The resourceVersion that was read is a precondition: a write must not replace
 * the memory that another operator has written since.
 */
export async function publish(object: Stored<ClusterObject>, written: object, context: PublishContext): Promise<void> {
  const status = storable(written, longestText);
  if (isDeepStrictEqual(object.status ?? {}, status)) return;
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const at = { namespace, name };
  const kept = keptIn(object, context);
  const body = { metadata: { resourceVersion }, status: replacing(fieldOf(object, kept), status) };
  const patch = (changes: { readonly body: object; readonly subresource?: 'status' }): Promise<void> =>
    context.writer(keyOf(at)).patch(context.resource, at, { type: 'merge', ...changes });
  try {
    await patch({ body, subresource: 'status' });
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    // The CRD of the original operator has no status subresource: the status is an ordinary field there.
    if (kind === 'not-found') return patch({ body }).then(() => recordOldDefinition(object, context));
    if (kind !== 'forbidden') throw thrown;
    const annotations = { [annotation(context)]: annotationWith(object, kept, status) };
    return patch({ body: { metadata: { resourceVersion, annotations } } });
  }
  if (kept !== undefined) await patch({ body: { metadata: { uid, annotations: { [annotation(context)]: null } } } });
}

/** The limit of messages and reasons in every status. A longer one would keep the whole status from being written. */
const longestText = 32_768;

interface Target {
  readonly resource: Resource<ClusterObject>;
  readonly metadata: Stored<ClusterObject>['metadata'];
}

/** Writes the status of an object that holds no memory. Without the right to write it, nothing is written. */
export async function publishOptional(
  { resource, metadata: { namespace, name, uid } }: Target,
  status: object,
  writer: Writer,
): Promise<void> {
  const body = { metadata: { uid }, status };
  const write = writer.patch(resource, { namespace, name }, { type: 'merge', body, subresource: 'status' });
  await unless('forbidden', unless('not-found', write, undefined), undefined);
}

/** Kinds whose outdated CRD has an Event already: one Event is enough for all objects of a kind. */
const reportedResources = new WeakSet<object>();

function recordOldDefinition(object: Stored<ClusterObject>, { resource, recordEvent }: PublishContext): void {
  if (recordEvent === undefined || reportedResources.has(resource)) return;
  reportedResources.add(resource);
  const { plural, group } = resource;
  const message =
    `CRD ${plural}.${group} is outdated (no status subresource, validation or printer columns): apply the CRD shipped with ` +
    'this operator; do not delete the existing one';
  recordEvent(object, { type: 'Warning', reason: 'OldDefinition', message });
}

/**
 * The annotation that holds the status if the operator may patch the object but not its status, as with the Role of the
 * original coreos operator. The status holds the memory of the operator, which must not be lost.
 */
const annotation = ({ dialect }: Pick<PublishContext, 'dialect'>): string => `${dialect.group}/status`;

/**
 * Annotations may be copied to other objects, so `uid` is checked. If the status field differs from `instead`, the
 * field is newer.
 */
interface Kept {
  readonly uid: string;
  readonly instead: unknown;
  readonly status: unknown;
}

function keptIn({ metadata }: Stored<ClusterObject>, context: Pick<PublishContext, 'dialect'>): Kept | undefined {
  try {
    const annotated = metadata.annotations?.[annotation(context)];
    if (annotated === undefined) return undefined;
    const kept = JSON.parse(annotated) as Kept;
    return kept.uid === metadata.uid ? kept : undefined;
  } catch {
    return undefined; // the annotation is invalid; the next publish replaces it
  }
}

/** The content of the status field, also of an object with the status of the annotation. */
const fieldOf = ({ status }: Stored<ClusterObject>, kept: Kept | undefined): unknown =>
  kept !== undefined && isDeepStrictEqual(status, kept.status) ? kept.instead : status;

const annotationWith = (object: Stored<ClusterObject>, kept: Kept | undefined, status: object): string =>
  JSON.stringify({ uid: object.metadata.uid, instead: fieldOf(object, kept) ?? null, status } satisfies Kept);

/** A merge patch after which nothing of `before` is left: it has null for every field that `after` lacks. */
function replacing(before: unknown, after: object): object {
  if (!isFields(before)) return after;
  const gone = Object.keys(before).filter((field) => !Object.hasOwn(after, field));
  const kept = Object.entries(after).map(([field, value]): readonly [string, unknown] => [
    field,
    isFields(value) ? replacing(before[field], value) : value,
  ]);
  return Object.fromEntries([...gone.map((field) => [field, null] as const), ...kept]);
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object with its status, from the status field or from the annotation. */
export function withStatus<T extends Stored<ClusterObject>>(object: T, context: Pick<PublishContext, 'dialect'>): T {
  const kept = keptIn(object, context);
  const isCurrent = kept !== undefined && isDeepStrictEqual(object.status ?? null, kept.instead);
  return isCurrent ? { ...object, status: kept.status } : object;
}
