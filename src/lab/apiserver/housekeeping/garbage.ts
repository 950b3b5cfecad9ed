import { copy } from '../json.ts';
import type { KubeObject, OwnerReference } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { Happening } from '../store/history.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { byItself } from '../verbs/call.ts';
import { foregroundFinalizer, orphanFinalizer, removeObject } from '../verbs/remove.ts';
import { updateObject } from '../verbs/update.ts';
import { later } from './later.ts';

interface Found {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Objects follow their owners: they are deleted with the last of them, before it, or are let go. */
export function collectGarbage(state: ServerState): void {
  const check = ({ type: what, collection, object }: Happening): void => {
    if (what === 'DELETED') return afterEnd(state, object); // perhaps together with its kind, of which nobody knows any more
    const type = state.types.ofCollection(collection);
    if (type !== undefined) afterChange(state, { type, object });
  };
  state.store.listen((happening) => later(() => check(happening)));
  for (const found of everything(state)) afterChange(state, found);
}

function afterChange(state: ServerState, { type, object }: Found): void {
  const { namespace = '', name, uid } = object.metadata;
  const current = state.store.get({ collection: type.collection, namespace, name });
  if (current === undefined || current.metadata.uid !== uid) return afterEnd(state, object);
  checkOwners(state, { type, object: current });
  if (current.metadata.deletionTimestamp !== undefined) tendDeparting(state, { type, object: current });
}

function afterEnd(state: ServerState, { metadata }: KubeObject): void {
  for (const dependent of dependentsOf(state, metadata.uid)) checkOwners(state, dependent);
  for (const owner of metadata.ownerReferences ?? []) tendOwner(state, owner, metadata.namespace ?? '');
}

/** An owner that waits for its dependents may be waiting for the one that just went. */
function tendOwner(state: ServerState, reference: OwnerReference, namespace: string): void {
  const owner = ownerOf(state, reference, namespace);
  if (owner !== undefined && owner.object.metadata.deletionTimestamp !== undefined) tendDeparting(state, owner);
}

function* everything(state: ServerState): Generator<Found> {
  for (const collection of state.store.collections) {
    const type = state.types.ofCollection(collection);
    if (type !== undefined) yield* state.store.list(collection).map((object) => ({ type, object }));
  }
}

const dependentsOf = (state: ServerState, uid: string): readonly Found[] =>
  [...everything(state)].filter(({ object }) =>
    (object.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid),
  );

function ownerOf(
  state: ServerState,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string,
): Found | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const type = state.types.ofKind(group, kind);
  if (type === undefined) return undefined;
  const object = state.store.get({ collection: type.collection, namespace: type.namespaced ? namespace : '', name });
  return object?.metadata.uid === uid ? { type, object } : undefined;
}

/** Deletes an object that has lost all its owners, and forgets those it has lost. */
function checkOwners(state: ServerState, { type, object }: Found): void {
  const { namespace = '', ownerReferences = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  const left = ownerReferences.filter((reference) => ownerOf(state, reference, namespace) !== undefined);
  if (left.length === ownerReferences.length) return;
  if (left.length > 0) return change(state, { type, object }, { ownerReferences: left });
  removeObject(state, { type, object }, { propagationPolicy: 'Background' });
}

/** Does for an object that is to go what its deletion asked for: first its dependents, or their freedom. */
function tendDeparting(state: ServerState, { type, object }: Found): void {
  const { finalizers = [], uid } = object.metadata;
  const without = (finalizer: string): void =>
    change(state, { type, object }, { finalizers: finalizers.filter((one) => one !== finalizer) });
  if (finalizers.includes(orphanFinalizer)) {
    for (const dependent of dependentsOf(state, uid)) letGo(state, dependent, uid);
    without(orphanFinalizer);
  } else if (finalizers.includes(foregroundFinalizer)) {
    removeDependents(state, uid);
    if (!dependentsOf(state, uid).some((dependent) => blocks(dependent.object, uid))) without(foregroundFinalizer);
  }
}

function removeDependents(state: ServerState, uid: string): void {
  for (const dependent of dependentsOf(state, uid))
    if (dependent.object.metadata.deletionTimestamp === undefined)
      removeObject(state, dependent, { propagationPolicy: 'Foreground' });
}

const blocks = ({ metadata }: KubeObject, uid: string): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);

const letGo = (state: ServerState, { type, object }: Found, uid: string): void =>
  change(
    state,
    { type, object },
    { ownerReferences: (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid) },
  );

function change(state: ServerState, { type, object: old }: Found, metadata: Partial<KubeObject['metadata']>): void {
  const object = copy(old);
  Object.assign(object.metadata, metadata);
  if (object.metadata.ownerReferences?.length === 0) delete object.metadata.ownerReferences;
  if (object.metadata.finalizers?.length === 0) delete object.metadata.finalizers;
  updateObject(state, { type, old, object }, byItself);
}
