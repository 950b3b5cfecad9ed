import { isOwnedBy } from '../../../src/std/owner.ts';
import { copy } from '../json.ts';
import type { KubeObject, OwnerReference } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { ObjectChange } from '../store/history.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { serverWrite } from '../verbs/call.ts';
import { foregroundFinalizer, orphanFinalizer, removeObject } from '../verbs/remove.ts';
import { updateObject } from '../verbs/update.ts';
import { defer } from './deferred.ts';

interface TypedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** The garbage collector: deletes dependents with their last owner, before it (foreground), or orphans them. */
export function collectGarbage(state: ServerState): void {
  const check = ({ type: what, collection, object }: ObjectChange): void => {
    if (what === 'DELETED') return afterDeletion(state, object); // its kind may be gone too
    const type = state.types.ofCollection(collection);
    if (type !== undefined) afterChange(state, { type, object });
  };
  state.store.listen((change) => defer(() => check(change)));
  for (const found of everything(state)) afterChange(state, found);
}

function afterChange(state: ServerState, { type, object }: TypedObject): void {
  const { namespace = '', name, uid } = object.metadata;
  const current = state.store.get({ collection: type.collection, namespace, name });
  if (current === undefined || current.metadata.uid !== uid) return afterDeletion(state, object);
  checkOwners(state, { type, object: current });
  if (current.metadata.deletionTimestamp !== undefined) continueDeletion(state, { type, object: current });
}

function afterDeletion(state: ServerState, { metadata }: KubeObject): void {
  for (const dependent of dependentsOf(state, metadata.uid)) checkOwners(state, dependent);
  for (const owner of metadata.ownerReferences ?? []) continueOwnerDeletion(state, owner, metadata.namespace ?? '');
}

/** An owner under foreground deletion may have waited for this dependent. */
function continueOwnerDeletion(state: ServerState, reference: OwnerReference, namespace: string): void {
  const owner = ownerOf(state, reference, namespace);
  if (owner !== undefined && owner.object.metadata.deletionTimestamp !== undefined) continueDeletion(state, owner);
}

function* everything(state: ServerState): Generator<TypedObject> {
  for (const collection of state.store.collections) {
    const type = state.types.ofCollection(collection);
    if (type !== undefined) yield* state.store.list(collection).map((object) => ({ type, object }));
  }
}

const dependentsOf = (state: ServerState, uid: string): readonly TypedObject[] =>
  [...everything(state)].filter(({ object }) => isOwnedBy(object, uid));

function ownerOf(
  state: ServerState,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string,
): TypedObject | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const type = state.types.ofKind(group, kind);
  if (type === undefined) return undefined;
  const object = state.store.get({ collection: type.collection, namespace: type.namespaced ? namespace : '', name });
  return object?.metadata.uid === uid ? { type, object } : undefined;
}

/** Deletes an object without any owner left, and drops references to owners that are gone. */
function checkOwners(state: ServerState, { type, object }: TypedObject): void {
  const { namespace = '', ownerReferences = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  const left = ownerReferences.filter((reference) => ownerOf(state, reference, namespace) !== undefined);
  if (left.length === ownerReferences.length) return;
  if (left.length > 0) return setMetadata(state, { type, object }, { ownerReferences: left });
  removeObject(state, { type, object }, { propagationPolicy: 'Background' });
}

/** Continues a deletion: orphans or deletes the dependents first, as the finalizer asks. */
function continueDeletion(state: ServerState, { type, object }: TypedObject): void {
  const { finalizers = [], uid } = object.metadata;
  const without = (finalizer: string): void =>
    setMetadata(state, { type, object }, { finalizers: finalizers.filter((one) => one !== finalizer) });
  if (finalizers.includes(orphanFinalizer)) {
    for (const dependent of dependentsOf(state, uid)) orphan(state, dependent, uid);
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

const orphan = (state: ServerState, { type, object }: TypedObject, uid: string): void =>
  setMetadata(
    state,
    { type, object },
    { ownerReferences: (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid) },
  );

function setMetadata(
  state: ServerState,
  { type, object: old }: TypedObject,
  metadata: Partial<KubeObject['metadata']>,
): void {
  const object = copy(old);
  Object.assign(object.metadata, metadata);
  if (object.metadata.ownerReferences?.length === 0) delete object.metadata.ownerReferences;
  if (object.metadata.finalizers?.length === 0) delete object.metadata.finalizers;
  updateObject(state, { type, old, object }, serverWrite);
}
