import { trackUpdate } from '../apply/track.ts';
import { type Fields, same } from '../json.ts';
import { hasStatus, strategyOf } from '../kinds/index.ts';
import { keepIdentity, metadataErrors } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, conflict, invalid, notFound, stale } from '../refusal.ts';
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
  if (object.metadata.name !== target.name)
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${target.name ?? ''})`,
    );
  const old = find(call);
  if (type.custom !== undefined && !object.metadata.resourceVersion)
    throw invalid({ group: type.group, kind: type.kind, name: object.metadata.name }, [
      { type: 'Invalid', path: 'metadata.resourceVersion', value: 0, says: 'must be specified for an update' },
    ]);
  const next = updateObject(state, { type, old, object: stored(type, object) }, writingOf(call));
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
  const managed = object.metadata.managedFields;
  keepIdentity(object, old);
  limitToPart({ type, old, object }, writing.subresource);
  const strategy = strategyOf(type);
  if (writing.subresource === undefined) strategy.prepareUpdate?.(object, old, state);
  count(type, old, object);
  const errors = [
    ...metadataErrors(object, () => undefined),
    ...(strategy.validate?.(object, old, state) ?? []),
    ...customErrors(type, object, old),
  ];
  if (errors.length > 0) throw invalid({ group: type.group, kind: type.kind, name: old.metadata.name }, errors);
  if (writing.operation === 'Apply') Object.assign(object.metadata, { managedFields: managed });
  else trackUpdate(object, { type, writing, old });
  return keep(state, { type, old, object }, writing);
}

function checkVersion(type: ResourceType, { metadata: old }: KubeObject, { metadata }: KubeObject): void {
  const { resourceVersion, uid } = metadata;
  if (resourceVersion && resourceVersion !== old.resourceVersion) throw stale(namedOf(type, old.name));
  if (uid && uid !== old.uid)
    throw conflict(
      namedOf(type, old.name),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.uid}`,
    );
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
