import { trackUpdate } from '../apply/track.ts';
import { type Fields, same } from '../json.ts';
import { addedFinalizerErrors, finalizerErrors } from '../kinds/finalizers.ts';
import { hasStatus, strategyOf } from '../kinds/index.ts';
import { checkNameAndNamespace, keepIdentity, metadataErrors } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import { conflict, type FieldError, invalid, notFound, stale } from '../status-error.ts';
import type { Place } from '../store/store.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type ApiResponse, type Call, namedOf, type WriteOptions, writeOptionsOf } from './call.ts';
import { customErrors } from './custom-errors.ts';
import { decodeObject } from './decode.ts';
import { present, toStorage } from './present.ts';

export function placeOf(
  type: ResourceType,
  target: { namespace?: string | undefined; name?: string | undefined },
): Place {
  return {
    collection: type.collection,
    namespace: type.namespaced ? (target.namespace ?? '') : '',
    name: target.name ?? '',
  };
}

export function find({ state, type, target }: Pick<Call, 'state' | 'type' | 'target'>): KubeObject {
  const found = state.store.get(placeOf(type, target));
  if (found === undefined) throw notFound(namedOf(type, target.name ?? ''));
  return found;
}

export function update(call: Call): ApiResponse {
  const { object, warnings } = decodeObject(call);
  const { state, type, target } = call;
  checkNameAndNamespace(object.metadata, target);
  const old = find(call);
  checkUid(type, old, object);
  if (type.custom !== undefined && !object.metadata.resourceVersion)
    throw invalid({ group: type.group, kind: type.kind, name: object.metadata.name }, [
      { type: 'Invalid', path: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' },
    ]);
  const next = updateObject(
    state,
    { type, old, object: toStorage(type, object) },
    writeOptionsOf(call, 'UpdateOptions'),
  );
  return { code: 200, body: present(type, next), warnings };
}

export interface Replacement {
  readonly type: ResourceType;
  readonly old: KubeObject;
  /** The new object; it may be changed here. */
  readonly object: KubeObject;
}

/** Replaces an object or one of its subresources, for a request or for the server itself. */
export function updateObject(
  state: ServerState,
  { type, old, object }: Replacement,
  writing: WriteOptions,
): KubeObject {
  checkVersion(type, old, object);
  const { managedFields: managed } = object.metadata;
  refuseUidChange(type, old, object);
  keepIdentity(object, old);
  limitToSubresource({ type, old, object }, writing.subresource);
  const strategy = strategyOf(type);
  const isWholeObject = writing.subresource === undefined;
  if (isWholeObject) strategy.prepareUpdate?.(object, old, state);
  updateGeneration(type, old, object);
  refuseInvalid(state, { type, old, object });
  if (isWholeObject) strategy.admitChange?.(object, old, state);
  if (writing.operation === 'Apply') Object.assign(object.metadata, { managedFields: managed });
  else trackUpdate(object, { type, writing, old: { ...old, metadata: { ...old.metadata, ...managedFrom(managed) } } });
  return storeObject(state, { type, old, object }, writing);
}

type Managed = KubeObject['metadata']['managedFields'];

/** A client may correct managedFields, as kubectl does; `[{}]` clears them. */
function managedFrom(managed: Managed = []): { managedFields?: NonNullable<Managed> } {
  const known = managed.filter((entry) => Object.keys(entry).length > 0);
  return managed.length === 0 ? {} : { managedFields: known };
}

function refuseInvalid(state: ServerState, { type, old, object }: Replacement): void {
  const errors = [
    ...metadataErrors(object, () => undefined),
    ...addedFinalizerErrors(object, old),
    ...finalizerErrors(object, type),
    ...(strategyOf(type).validate?.(object, old, state) ?? []),
    ...customErrors(type, object, old),
  ];
  if (errors.length > 0) throw invalid({ group: type.group, kind: type.kind, name: old.metadata.name }, errors);
}

function checkVersion(type: ResourceType, { metadata: old }: KubeObject, { metadata }: KubeObject): void {
  const { resourceVersion } = metadata;
  if (resourceVersion && resourceVersion !== old.resourceVersion) throw stale(namedOf(type, old.name));
}

/** A PUT with a UID is a precondition on it. */
function checkUid(type: ResourceType, { metadata: old }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (uid && uid !== old.uid)
    throw conflict(
      namedOf(type, old.name),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.uid}`,
    );
}

/** A patch cannot change the UID. */
function refuseUidChange(type: ResourceType, { metadata: old }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (!uid || uid === old.uid) return;
  const error: FieldError = { type: 'Invalid', path: 'metadata.uid', value: uid, detail: 'field is immutable' };
  throw invalid({ group: type.group, kind: type.kind, name: old.name }, [error]);
}

/** An update of the status subresource changes only the status; any other update leaves the status unchanged. */
function limitToSubresource({ type, old, object }: Replacement, subresource: string | undefined): void {
  if (subresource === 'status') {
    const { status } = object;
    const keptMetadata = type.custom === undefined ? object.metadata : { ...old.metadata };
    for (const field of Object.keys(object)) delete object[field];
    Object.assign(object, old, { metadata: keptMetadata });
    setOrDelete(object, 'status', status);
    if (type.custom === undefined) Object.assign(object.metadata, { ownerReferences: old.metadata.ownerReferences });
  } else if (hasStatus(type) && subresource === undefined) setOrDelete(object, 'status', old['status']);
}

function setOrDelete(object: Fields, field: string, content: unknown): void {
  if (content === undefined) delete object[field];
  else object[field] = content;
}

const withoutMetadataAndStatus = (type: ResourceType, object: KubeObject): Fields => {
  const { metadata: _, status, ...rest } = object;
  return hasStatus(type) ? rest : { ...rest, status };
};

/** The generation counts changes of everything but metadata and status. */
function updateGeneration(type: ResourceType, old: KubeObject, object: KubeObject): void {
  if (
    strategyOf(type).hasGeneration !== true ||
    same(withoutMetadataAndStatus(type, old), withoutMetadataAndStatus(type, object))
  )
    return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Stores the object if it has changed. An object under deletion without finalizers left is removed. */
function storeObject(state: ServerState, { type, old, object }: Replacement, writing: WriteOptions): KubeObject {
  object.metadata.resourceVersion = old.metadata.resourceVersion;
  for (const field of ['ownerReferences', 'labels', 'annotations', 'finalizers'] as const)
    if (object.metadata[field] === undefined) delete object.metadata[field];
  if (same(object, old) || writing.dryRun) return object;
  const place = placeOf(type, old.metadata);
  const stored = state.store.put(place, object);
  if (!isFinished(stored)) return stored;
  state.store.remove(place);
  return stored;
}

const isFinished = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;
