import { describe, expect, it } from 'vitest';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { KubeObject, Pod, Stored } from '../../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../../runtime/store.ts';
import { Failure } from '../../../std/failure.ts';
import { type ControllerContext, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { podsOf, replicaSetsOf } from './adoption.ts';

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

/** A pod that a ReplicaSet of the original operator made for a peer. */
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

const contextWith = ({ pods = [], peers = [], sets = [] }: There, asked: string[] = []): ControllerContext =>
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
  }) as unknown as ControllerContext;

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

  it('before adoption include the pods that ReplicaSets of the original made for its EtcdPeers', () => {
    const foreignObjects = [
      made('db-7-aaaaa', 'db-7'), // there is no such peer
      made('web-aaaaa', 'db-0', { owners: [madeBy('web')] }),
      made('db-0-by-hand', 'db-0', { owners: [{ ...owner, kind: 'Job', name: 'db-0' }] }),
    ];
    const context = contextWith({ pods: [made('db-0-aaaaa', 'db-0'), own, ...foreignObjects], peers });
    expect(namesOf(podsOf(foundThere, context))).toEqual(['db-1', 'db-0-aaaaa']);
  });

  it('before adoption include pods without an owner, after a restart of the operator during adoption', () => {
    const context = contextWith({ pods: [made('db-0-aaaaa', 'db-0', { owners: [] })], peers });
    expect(namesOf(podsOf(foundThere, context))).toEqual(['db-0-aaaaa']);
  });

  it('are one for each member: an evicted pod does not count beside its replacement', () => {
    const evicted = made('db-0-aaaaa', 'db-0', { status: { phase: 'Failed' } });
    const running = made('db-0-bbbbb', 'db-0', { status: { phase: 'Running' } });
    expect(namesOf(podsOf(foundThere, contextWith({ pods: [evicted, running], peers })))).toEqual(['db-0-bbbbb']);
  });

  it('after adoption are only the pods that the cluster owns', () => {
    const context = contextWith({ pods: [made('db-0-aaaaa', 'db-0'), own], peers });
    expect(namesOf(podsOf(ours, context))).toEqual(['db-1']);
  });
});

describe('the ReplicaSets of the original operator', () => {
  const signal = new AbortController().signal;
  const setOf = (name: string, metadata: object = {}) =>
    object(name, {}, { ownerReferences: [{ ...owner, uid: `uid-of-${name}` }], ...metadata });

  it('are the ReplicaSets that EtcdPeers of the cluster own', async () => {
    const sets = [setOf('db-0'), setOf('db-1', { deletionTimestamp: '2026-01-01T00:00:00Z' }), object('db-2')];
    const context = contextWith({ peers: ['db-0', 'db-1', 'db-2', 'db-3'].map(peer), sets });
    expect((await replicaSetsOf(foundThere, context, signal)).legacyReplicaSets).toEqual([
      { name: 'db-0', uid: 'uid-of-db-0', isLeaving: false },
      { name: 'db-1', uid: 'uid-of-db-1', isLeaving: true },
    ]);
  });

  it('are not read for an adopted cluster, or without EtcdPeers', async () => {
    const asked: string[] = [];
    await replicaSetsOf(ours, contextWith({ peers: [peer('db-0')] }, asked), signal);
    await replicaSetsOf(foundThere, contextWith({}, asked), signal);
    expect(asked).toEqual([]);
  });

  it('are reported as a missing right if the operator may not read them', async () => {
    const context = contextWith({ peers: [peer('db-0')] });
    const get = () => Promise.reject(new Failure('forbidden', 'replicasets.apps "db-0" is forbidden'));
    expect(await replicaSetsOf(foundThere, { ...context, client: { get } }, signal)).toEqual({
      missingPermission: expect.stringContaining('grant it the rights to get and delete replicasets'),
    });
  });
});
