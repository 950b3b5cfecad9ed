import { copy } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { Happening } from '../store/history.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { byItself } from '../verbs/call.ts';
import { createObject } from '../verbs/create.ts';
import { removeObject } from '../verbs/remove.ts';
import { later } from './later.ts';

const collection = '/namespaces';

/** Gives every namespace what pods in it need, and empties those that are to go. */
export function keepNamespaces(state: ServerState): void {
  for (const namespace of state.store.list(collection)) tend(state, namespace);
  state.store.listen((happening) => {
    if (happening.collection === collection && happening.type !== 'DELETED') later(() => tend(state, happening.object));
    if (happening.type === 'DELETED') later(() => afterRemoval(state, happening));
  });
}

function tend(state: ServerState, { metadata }: KubeObject): void {
  const namespace = state.store.get({ collection, namespace: '', name: metadata.name });
  if (namespace === undefined) return;
  if (namespace.metadata.deletionTimestamp === undefined) furnish(state, metadata.name);
  else empty(state, namespace);
}

function furnish(state: ServerState, namespace: string): void {
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
  createObject(state, { type, object, namespace }, byItself);
}

/** What was removed may have been the last thing in a namespace, or something that every namespace has. */
function afterRemoval(state: ServerState, { namespace }: Happening): void {
  if (namespace === '') return;
  const place = { collection, namespace: '', name: namespace };
  const found = state.store.get(place);
  if (found !== undefined) tend(state, found);
}

function empty(state: ServerState, namespace: KubeObject): void {
  const { name, finalizers = [] } = namespace.metadata;
  const content = (): readonly Found[] => [...contentOf(state, name)];
  for (const found of content()) if (found.object.metadata.deletionTimestamp === undefined) removeObject(state, found);
  if (content().length === 0 && finalizers.length === 0) state.store.remove({ collection, namespace: '', name });
}

interface Found {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

function* contentOf(state: ServerState, namespace: string): Generator<Found> {
  for (const one of state.store.collections) {
    const type = state.types.ofCollection(one);
    if (type?.namespaced === true) yield* state.store.list(one, namespace).map((object) => ({ type, object }));
  }
}
