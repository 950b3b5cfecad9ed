import { copy } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { Happening } from '../store/history.ts';
import { collectionOf, customTypes } from '../types/custom.ts';
import { byItself } from '../verbs/call.ts';
import { removeObject } from '../verbs/remove.ts';
import { updateObject } from '../verbs/update.ts';
import { later } from './later.ts';

const collection = 'apiextensions.k8s.io/customresourcedefinitions';
const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** Serves what is defined, and removes all objects of a definition before it goes. */
export function keepDefinitions(state: ServerState): void {
  for (const definition of state.store.list(collection)) begin(state, definition);
  state.store.listen((happening) => {
    if (happening.collection === collection) definitionChanged(state, happening);
    else if (happening.type === 'DELETED') later(() => definitionMayGo(state, happening.collection));
  });
}

const serveDefined = (state: ServerState, definition: KubeObject): void =>
  state.types.define(collectionOf(definition), customTypes(definition));

function definitionChanged(state: ServerState, { type, object }: Happening): void {
  if (type === 'DELETED') return state.types.define(collectionOf(object), []);
  begin(state, object);
}

/** One that is to go may have been left by a server that was ended before it could see to that. */
function begin(state: ServerState, definition: KubeObject): void {
  serveDefined(state, definition);
  if (definition.metadata.deletionTimestamp !== undefined) later(() => empty(state, definition));
}

function empty(state: ServerState, definition: KubeObject): void {
  const [type] = customTypes(definition);
  if (type === undefined) return;
  for (const object of state.store.list(type.collection))
    if (object.metadata.deletionTimestamp === undefined) removeObject(state, { type, object });
  definitionMayGo(state, type.collection);
}

/** With its last object, a definition that is to go loses the reason to stay. */
function definitionMayGo(state: ServerState, emptied: string): void {
  const definition = state.store
    .list(collection)
    .find((one) => one.metadata.deletionTimestamp !== undefined && collectionOf(one) === emptied);
  if (definition === undefined || state.store.list(emptied).length > 0) return;
  const type = state.types.ofCollection(collection);
  const finalizers = (definition.metadata.finalizers ?? []).filter((one) => one !== cleanup);
  if (type === undefined || finalizers.length === definition.metadata.finalizers?.length) return;
  const object = copy(definition);
  Object.assign(object.metadata, { finalizers });
  updateObject(state, { type, old: definition, object }, byItself);
}
