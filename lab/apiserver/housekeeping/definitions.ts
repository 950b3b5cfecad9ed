import { copy } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { ObjectChange } from '../store/history.ts';
import { collectionOf, customTypes } from '../types/custom.ts';
import { serverWrite } from '../verbs/call.ts';
import { removeObject } from '../verbs/remove.ts';
import { updateObject } from '../verbs/update.ts';
import { defer } from './deferred.ts';

const collection = 'apiextensions.k8s.io/customresourcedefinitions';
const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** Serves the resources of CustomResourceDefinitions, and deletes their objects before a definition is removed. */
export function keepDefinitions(state: ServerState): void {
  for (const definition of state.store.list(collection)) serveDefinition(state, definition);
  state.store.listen((change) => {
    if (change.collection === collection) definitionChanged(state, change);
    else if (change.type === 'DELETED') defer(() => removeFinalizerIfEmpty(state, change.collection));
  });
}

const serveDefined = (state: ServerState, definition: KubeObject): void =>
  state.types.define(collectionOf(definition), customTypes(definition));

function definitionChanged(state: ServerState, { type, object }: ObjectChange): void {
  if (type === 'DELETED') return state.types.define(collectionOf(object), []);
  serveDefinition(state, object);
}

/** Also continues a deletion that an earlier run of the server had begun. */
function serveDefinition(state: ServerState, definition: KubeObject): void {
  serveDefined(state, definition);
  if (definition.metadata.deletionTimestamp !== undefined) defer(() => deleteObjects(state, definition));
}

function deleteObjects(state: ServerState, definition: KubeObject): void {
  const [type] = customTypes(definition);
  if (type === undefined) return;
  for (const object of state.store.list(type.collection))
    if (object.metadata.deletionTimestamp === undefined) removeObject(state, { type, object });
  removeFinalizerIfEmpty(state, type.collection);
}

/** Removes the finalizer of a definition under deletion once its last object is gone. */
function removeFinalizerIfEmpty(state: ServerState, emptied: string): void {
  const definition = state.store
    .list(collection)
    .find((one) => one.metadata.deletionTimestamp !== undefined && collectionOf(one) === emptied);
  if (definition === undefined || state.store.list(emptied).length > 0) return;
  const type = state.types.ofCollection(collection);
  const finalizers = (definition.metadata.finalizers ?? []).filter((one) => one !== cleanup);
  if (type === undefined || finalizers.length === definition.metadata.finalizers?.length) return;
  const object = copy(definition);
  Object.assign(object.metadata, { finalizers });
  updateObject(state, { type, old: definition, object }, serverWrite);
}
