import { describe, expect, it } from 'vitest';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { KubeObject, Pod, Stored } from '../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../runtime/store.ts';
import { Failure } from '../../std/failure.ts';
import { keepersOf, podsOf } from './inherited.ts';
import { clusterIndex, ownerIndex, type Tools } from './sources.ts';

const label = 'etcd.improbable.io/cluster-name';
const uid = 'uid-1';
const owner = { apiVersion: 'v1', kind: 'Any', name: 'any', controller: true };

const object = (name: string, more: object = {}, metadata: object = {}): Stored<KubeObject> =>
  ({
    ...more,
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1', labels: { [label]: 'db' } },
      ...metadata,
    },
  }) as unknown as Stored<KubeObject>;

/** A pod as a ReplicaSet of the original makes it for a peer. */
const made = (name: string, peer: string, { owners = [madeBy(peer)] as readonly object[], status = {} } = {}) =>
  object(name, { spec: { hostname: peer, subdomain: 'db' }, status }, { ownerReferences: owners });
const madeBy = (peer: string): object => ({ ...owner, kind: 'ReplicaSet', name: peer, uid: `set-of-${peer}` });
const peer = (name: string): Stored<KubeObject> => object(name, {}, { ownerReferences: [{ ...owner, uid }] });

function storeOf(objects: readonly Stored<KubeObject>[]): Store<never> {
  const indexes = { [ownerIndex]: byOwner, [clusterIndex]: byLabel(label) };
  const store = new Store<KubeObject>({ indexes, onHandlerFailure: () => undefined });
  for (const each of objects) store.put(each);
  return store as unknown as Store<never>;
}

interface There {
  readonly pods?: readonly Stored<KubeObject>[];
  readonly peers?: readonly Stored<KubeObject>[];
  readonly sets?: readonly Stored<KubeObject>[];
}

const toolsWith = ({ pods = [], peers = [], sets = [] }: There, asked: string[] = []): Tools =>
  ({
    dialect: improbable,
    caches: { pods: storeOf(pods) },
    peers: { store: storeOf(peers) },
    client: {
      get: async ({ plural }: { plural: string }, { name }: { name: string }) => {
        asked.push(`${plural} ${name}`);
        const found = sets.find(({ metadata }) => metadata.name === name);
        if (found === undefined) throw new Failure('not-found', `${name} is not there`);
        return found;
      },
    },
  }) as unknown as Tools;

function readWith(status: object) {
  const read = improbable.read({ metadata: { name: 'db', namespace: 'default', uid }, spec: { replicas: 3 }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}
const foundThere = readWith({ members: [{ name: 'db-0', id: 'a' }], replicas: 3 });
const ours = readWith({ clusterId: 'c1' });
const namesOf = (pods: readonly Stored<Pod>[]): readonly string[] => pods.map(({ metadata }) => metadata.name);

describe('the pods of a cluster', () => {
  const own = object('db-1', { spec: { hostname: 'db-1' } }, { ownerReferences: [{ ...owner, uid }] });
  const peers = [peer('db-0'), peer('db-1')];

  it('that an original has made are those that its ReplicaSets have made for its peers', () => {
    const strangers = [
      made('db-7-aaaaa', 'db-7'), // there is no such peer
      made('web-aaaaa', 'db-0', { owners: [madeBy('web')] }),
      made('db-0-by-hand', 'db-0', { owners: [{ ...owner, kind: 'Job', name: 'db-0' }] }),
    ];
    const tools = toolsWith({ pods: [made('db-0-aaaaa', 'db-0'), own, ...strangers], peers });
    expect(namesOf(podsOf(foundThere, tools))).toEqual(['db-1', 'db-0-aaaaa']);
  });

  it('are also those that their ReplicaSet has let go of, when the operator was killed in between', () => {
    const tools = toolsWith({ pods: [made('db-0-aaaaa', 'db-0', { owners: [] })], peers });
    expect(namesOf(podsOf(foundThere, tools))).toEqual(['db-0-aaaaa']);
  });

  it('are one for each member: what was evicted does not count beside what was made in its place', () => {
    const evicted = made('db-0-aaaaa', 'db-0', { status: { phase: 'Failed' } });
    const running = made('db-0-bbbbb', 'db-0', { status: { phase: 'Running' } });
    expect(namesOf(podsOf(foundThere, toolsWith({ pods: [evicted, running], peers })))).toEqual(['db-0-bbbbb']);
  });

  it('are only those that it owns, once it is ours', () => {
    const tools = toolsWith({ pods: [made('db-0-aaaaa', 'db-0'), own], peers });
    expect(namesOf(podsOf(ours, tools))).toEqual(['db-1']);
  });
});

describe('what would make pods again', () => {
  const signal = new AbortController().signal;
  const setOf = (name: string, metadata: object = {}) =>
    object(name, {}, { ownerReferences: [{ ...owner, uid: `uid-of-${name}` }], ...metadata });

  it('are the ReplicaSets that belong to its peers', async () => {
    const sets = [setOf('db-0'), setOf('db-1', { deletionTimestamp: '2026-01-01T00:00:00Z' }), object('db-2')];
    const tools = toolsWith({ peers: ['db-0', 'db-1', 'db-2', 'db-3'].map(peer), sets });
    expect((await keepersOf(foundThere, tools, signal)).keepers).toEqual([
      { name: 'db-0', uid: 'uid-of-db-0', isLeaving: false },
      { name: 'db-1', uid: 'uid-of-db-1', isLeaving: true },
    ]);
  });

  it('is not even asked for where the cluster is ours, or has no peers yet', async () => {
    const asked: string[] = [];
    await keepersOf(ours, toolsWith({ peers: [peer('db-0')] }, asked), signal);
    await keepersOf(foundThere, toolsWith({}, asked), signal);
    expect(asked).toEqual([]);
  });

  it('is told of where we may not look, because it may be there all the same', async () => {
    const tools = toolsWith({ peers: [peer('db-0')] });
    const get = () => Promise.reject(new Failure('forbidden', 'replicasets.apps "db-0" is forbidden'));
    expect(await keepersOf(foundThere, { ...tools, client: { get } }, signal)).toEqual({
      outOfSight: expect.stringContaining('grant it the rights to get and delete replicasets'),
    });
  });
});
