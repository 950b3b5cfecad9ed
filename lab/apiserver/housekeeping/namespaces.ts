import { copy } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { ObjectChange } from '../store/history.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { serverWrite } from '../verbs/call.ts';
import { createObject } from '../verbs/create.ts';
import { removeObject } from '../verbs/remove.ts';
import { defer } from './deferred.ts';

const collection = '/namespaces';

/** Creates the default objects of every namespace, and empties namespaces under deletion. */
export function keepNamespaces(state: ServerState): void {
  for (const namespace of state.store.list(collection)) reconcile(state, namespace);
  state.store.listen((change) => {
    if (change.collection === collection && change.type !== 'DELETED') defer(() => reconcile(state, change.object));
    if (change.type === 'DELETED') defer(() => afterRemoval(state, change));
  });
}

function reconcile(state: ServerState, { metadata }: KubeObject): void {
  const namespace = state.store.get({ collection, namespace: '', name: metadata.name });
  if (namespace === undefined) return;
  if (namespace.metadata.deletionTimestamp === undefined) createDefaults(state, metadata.name);
  else deleteContent(state, namespace);
}

function createDefaults(state: ServerState, namespace: string): void {
  ensure(state, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } });
  ensure(state, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt', namespace },
    data: { 'ca.crt': state.ca },
  });
}

function ensure(state: ServerState, made: object): void {
  const object = copy(made) as KubeObject;
  const { namespace = '', name } = object.metadata;
  const type = state.types.ofKind('', object.kind);
  if (type === undefined || state.store.get({ collection: type.collection, namespace, name }) !== undefined) return;
  createObject(state, { type, object, namespace }, serverWrite);
}

/** The deleted object may have been the last in a namespace under deletion, or a default object to be recreated. */
function afterRemoval(state: ServerState, { namespace }: ObjectChange): void {
  if (namespace === '') return;
  const place = { collection, namespace: '', name: namespace };
  const found = state.store.get(place);
  if (found !== undefined) reconcile(state, found);
}

function deleteContent(state: ServerState, namespace: KubeObject): void {
  const { name, finalizers = [] } = namespace.metadata;
  const content = (): readonly TypedObject[] => [...contentOf(state, name)];
  for (const found of content()) if (found.object.metadata.deletionTimestamp === undefined) removeObject(state, found);
  if (content().length === 0 && finalizers.length === 0) state.store.remove({ collection, namespace: '', name });
}

interface TypedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

function* contentOf(state: ServerState, namespace: string): Generator<TypedObject> {
  for (const one of state.store.collections) {
    const type = state.types.ofCollection(one);
    if (type?.namespaced === true) yield* state.store.list(one, namespace).map((object) => ({ type, object }));
  }
}
