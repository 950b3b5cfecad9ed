import type { Fields } from './json.ts';
import { copy } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ServerState } from './state.ts';
import { byItself } from './verbs/call.ts';
import { createObject } from './verbs/create.ts';

const named = (kind: string, name: string, content: Fields = {}): KubeObject =>
  ({ apiVersion: 'v1', kind, metadata: { name }, ...content }) as unknown as KubeObject;

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Makes what every cluster has, where it is not there yet. */
export function bootstrap(state: ServerState): void {
  for (const name of namespaces) ensure(state, named('Namespace', name));
  state.store.forgetThePast();
}

function ensure(state: ServerState, object: KubeObject, namespace?: string): void {
  const [group = '', version = ''] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  const type = state.types.ofKind(group, object.kind, version);
  if (type === undefined) throw new Error(`unknown kind ${object.kind}`);
  const place = { collection: type.collection, namespace: namespace ?? '', name: object.metadata.name };
  if (state.store.get(place) === undefined) createObject(state, { type, object: copy(object), namespace }, byItself);
}
