import { trackUpdate } from '../apply/track.ts';
import { type Fields, same } from '../json.ts';
import { finalizerErrors, lateFinalizers } from '../kinds/finalizers.ts';
import { hasStatus, strategyOf } from '../kinds/index.ts';
import { checkAddress, keepIdentity, metadataErrors } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { conflict, type FieldError, invalid, notFound, stale } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import type { Place } from '../store/store.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type Answer, type Call, namedOf, type Writing, writingOf } from './call.ts';
import { customErrors } from './custom-errors.ts';
import { decodeObject } from './decode.ts';
import { present, stored } from './present.ts';

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

export function update(call: Call): Answer {
  const { object, warnings } = decodeObject(call);
  const { state, type, target } = call;
  checkAddress(object.metadata, target);
  const old = find(call);
  checkSame(type, old, object);
  if (type.custom !== undefined && !object.metadata.resourceVersion)
    throw invalid({ group: type.group, kind: type.kind, name: object.metadata.name }, [
      { type: 'Invalid', path: 'metadata.resourceVersion', value: 0, says: 'must be specified for an update' },
    ]);
  const next = updateObject(state, { type, old, object: stored(type, object) }, writingOf(call, 'UpdateOptions'));
  return { code: 200, body: present(type, next), warnings };
}

export interface Replacement {
  readonly type: ResourceType;
  readonly old: KubeObject;
  /** May be changed here. */
  readonly object: KubeObject;
}

/** Replaces an object, or a part of it, by whoever asks for it. */
export function updateObject(state: ServerState, { type, old, object }: Replacement, writing: Writing): KubeObject {
  checkVersion(type, old, object);
  const { managedFields: managed } = object.metadata;
  refuseAnother(type, old, object);
  keepIdentity(object, old);
  limitToPart({ type, old, object }, writing.subresource);
  const strategy = strategyOf(type);
  const isOfTheWhole = writing.subresource === undefined;
  if (isOfTheWhole) strategy.prepareUpdate?.(object, old, state);
  count(type, old, object);
  refuseInvalid(state, { type, old, object });
  if (isOfTheWhole) strategy.admitChange?.(object, old, state);
  if (writing.operation === 'Apply') Object.assign(object.metadata, { managedFields: managed });
  else trackUpdate(object, { type, writing, old: { ...old, metadata: { ...old.metadata, ...managedFrom(managed) } } });
  return keep(state, { type, old, object }, writing);
}

type Managed = KubeObject['metadata']['managedFields'];

/** Whoever changes an object may put right who manages its fields, as kubectl does; `[{}]` stands for nobody. */
function managedFrom(managed: Managed = []): { managedFields?: NonNullable<Managed> } {
  const known = managed.filter((entry) => Object.keys(entry).length > 0);
  return managed.length === 0 ? {} : { managedFields: known };
}

function refuseInvalid(state: ServerState, { type, old, object }: Replacement): void {
  const errors = [
    ...metadataErrors(object, () => undefined),
    ...lateFinalizers(object, old),
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

/** Whoever replaces an object may say which one it means. */
function checkSame(type: ResourceType, { metadata: old }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (uid && uid !== old.uid)
    throw conflict(
      namedOf(type, old.name),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.uid}`,
    );
}

/** In a patch the same is a change that nobody can make. */
function refuseAnother(type: ResourceType, { metadata: old }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (!uid || uid === old.uid) return;
  const error: FieldError = { type: 'Invalid', path: 'metadata.uid', value: uid, says: 'field is immutable' };
  throw invalid({ group: type.group, kind: type.kind, name: old.name }, [error]);
}

/** An update of the status changes nothing else, and any other update not the status. */
function limitToPart({ type, old, object }: Replacement, subresource: string | undefined): void {
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

const withoutCounted = (type: ResourceType, object: KubeObject): Fields => {
  const { metadata: _, status, ...rest } = object;
  return hasStatus(type) ? rest : { ...rest, status };
};

/** The generation counts changes of what is wanted. */
function count(type: ResourceType, old: KubeObject, object: KubeObject): void {
  if (strategyOf(type).counts !== true || same(withoutCounted(type, old), withoutCounted(type, object))) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Stores what has changed. An object that waited only for its last finalizer is gone with it. */
function keep(state: ServerState, { type, old, object }: Replacement, writing: Writing): KubeObject {
  object.metadata.resourceVersion = old.metadata.resourceVersion;
  for (const field of ['ownerReferences', 'labels', 'annotations', 'finalizers'] as const)
    if (object.metadata[field] === undefined) delete object.metadata[field];
  if (same(object, old) || writing.dryRun) return object;
  const place = placeOf(type, old.metadata);
  const kept = state.store.put(place, object);
  if (!isFinished(kept)) return kept;
  state.store.remove(place);
  return kept;
}

const isFinished = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;
