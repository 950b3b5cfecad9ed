import rights from './gen/rights.json' with { type: 'json' };
import { copy, type Fields } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ServerState } from './state.ts';
import { serverWrite } from './verbs/call.ts';
import { createObject } from './verbs/create.ts';

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const priorities: readonly Fields[] = [
  { name: 'system-cluster-critical', value: 2_000_000_000 },
  { name: 'system-node-critical', value: 2_000_001_000 },
].map(({ name, value }) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy: 'PreemptLowerPriority',
}));

/** The Service by which pods reach the API server. */
const ownService: Fields = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
  },
};

/** Creates the objects that every cluster has, if they do not exist. */
export function bootstrap(state: ServerState): void {
  for (const name of namespaces) ensure(state, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const object of [...(rights as Fields[]), ...priorities]) ensure(state, object);
  ensure(state, ownService, 'default');
  state.store.dropHistory();
}

function ensure(state: ServerState, made: Fields, namespace?: string): void {
  const object = copy(made) as KubeObject;
  const { apiVersion, kind, metadata } = object;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const type = state.types.ofKind(group, kind, version);
  if (type === undefined) throw new Error(`unknown kind ${kind}`);
  const place = { collection: type.collection, namespace: namespace ?? '', name: metadata.name };
  if (state.store.get(place) === undefined) createObject(state, { type, object, namespace }, serverWrite);
}
