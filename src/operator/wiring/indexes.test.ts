import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { labCaches } from '../../../lab/caches.ts';
import { agentForMetadata } from '../../controllers/shared/agent-namespace.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { reflectorOfNamespaces } from '../../runtime/reflector-of-namespaces.ts';
import { type IndexValues, Store } from '../../runtime/store.ts';
import { agentIndexes } from './agent-kinds.ts';
import { makeCaches } from './caches.ts';
import { allDialects, clustersOf, peersOf } from './served.ts';

const uid = 'uid-of-db';
const home = { group: 'etcd.improbable.io', namespace: 'operators' };
const options = { client: undefined as never, clock, onFailure: () => undefined };
/** All index values of objects and agents of the cluster victim/db. */
const values = [uid, 'db', 'victim/db', 'EtcdCluster', 'etcd'];

/** An object that claims to belong to victim/db by owner, labels and annotations. */
function partOf(namespace: string): Stored<KubeObject> {
  const owner = { apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster', name: 'db', uid, controller: true };
  const agentFor = agentForMetadata(home.group, { uid, namespace: 'victim', name: 'db' });
  const labels = { ...agentFor.labels, 'etcd.improbable.io/cluster-name': 'db', etcd_cluster: 'db', app: 'etcd' };
  const identity = { namespace, name: 'db-0', uid: `${namespace}-db-0`, resourceVersion: '1', creationTimestamp: '' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...identity, labels, annotations: agentFor.annotations, ownerReferences: [owner] },
  };
}

const ofClusters = Object.values(allDialects).flatMap((dialect) =>
  makeCaches({
    ...{ ...options, dialect, namespace: undefined, withBudgets: true },
    ...{ clusters: clustersOf(dialect), peers: peersOf(dialect) },
  }).reflectors.map(({ store }) => store as unknown as Store<KubeObject>),
);
const ofAgents = new Store<KubeObject>({ indexes: agentIndexes(home), onHandlerFailure: () => undefined });
const ofLab = labCaches(options).reflectors.map(({ store }) => store as unknown as Store<KubeObject>);
const ofNamespaces = reflectorOfNamespaces<KubeObject>(['victim', home.namespace], {
  ...{ ...options, resource: pods, indexes: agentIndexes(home) },
}).store;
const stores = [...ofClusters, ofAgents, ofNamespaces, ...ofLab];

const foundIn = (store: Store<KubeObject>, namespace: string): readonly string[] =>
  store.indexNames
    .flatMap((index) => values.flatMap((value) => store.by(index, namespace, value)))
    .map(({ metadata }) => metadata.uid);

describe('every index of every cache', () => {
  it('finds objects of a cluster in its own namespace', () => {
    for (const store of stores) {
      store.put(partOf('victim'));
      expect(new Set(foundIn(store, 'victim'))).toEqual(new Set(['victim-db-0']));
    }
  });

  it('finds no object of another namespace, whatever owner and labels it has', () => {
    for (const store of stores) {
      for (const namespace of ['attacker', '', 'victi', 'victim/db', home.namespace]) store.put(partOf(namespace));
      store.put(partOf('victim'));
      expect(new Set(foundIn(store, 'victim'))).toEqual(new Set(['victim-db-0']));
    }
  });

  it('includes the namespace in its key, even if all objects have the same value', () => {
    const everything: IndexValues<KubeObject> = () => values;
    const store = new Store<KubeObject>({ indexes: { everything }, onHandlerFailure: () => undefined });
    store.put(partOf('attacker'));
    store.put(partOf('victim'));
    expect(new Set(foundIn(store, 'victim'))).toEqual(new Set(['victim-db-0']));
  });
});

it('no controller iterates over a whole cache, because only indexes are limited to one namespace', () => {
  const files = globSync('src/controllers/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
  const searching = files.filter((file) => /\.all\(\)/.test(readFileSync(file, 'utf8')));
  expect(files.length).toBeGreaterThan(50);
  expect(searching).toEqual([]);
});

it('no controller lists objects of all namespaces', () => {
  const lists = globSync('src/controllers/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\.(?:list|pages|watch)\(([^)]*)\)/g)].map(([, words = '']) => words),
  );
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.filter((words) => !words.includes('namespace'))).toEqual([]);
});
