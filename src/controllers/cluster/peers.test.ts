import { describe, expect, it } from 'vitest';
import { aCarrier, aWorld, nameOf, outOfContact, withIntent, withMember } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { namespaced } from '../../kube/resource.ts';
import { byLabel, byOwner, Store } from '../../runtime/store.ts';
import { Failure } from '../../std/failure.ts';
import { freePeers, keepPeers, type PeerKeeping, publishPeers } from './peers.ts';
import { type ClusterObject, clusterIndex, ownerIndex } from './sources.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 3, version: '3.5.35', podTemplate: { metadata: { labels: { team: 'a' } } } },
});
if (!read.ok || read.value.peers === undefined) throw new Error('there should be peers');
const objects = read.value.peers;
const { naming } = read.value.blueprint;
const oldFinalizer = 'etcdpeer.etcd.improbable.io/pvc-cleanup';
const clusterLabel = 'etcd.improbable.io/cluster-name';
const world = aWorld(withIntent({ memberNames: 'ordinal' }));

interface Write {
  readonly verb: 'create' | 'patch' | 'remove' | 'status';
  readonly name: string;
  readonly body?: unknown;
}

/** Peers as they would be there, and what is done about them. */
function shelf(...there: readonly Stored<ClusterObject>[]): { keeping: PeerKeeping; done: Write[] } {
  const indexes = { [ownerIndex]: byOwner, [clusterIndex]: byLabel(clusterLabel) };
  const store = new Store<ClusterObject>({ indexes, onHandlerFailure: () => undefined });
  for (const each of there) store.put(each);
  const done: Write[] = [];
  const writer: PeerKeeping['writer'] = {
    create: async (_, { metadata: { name } }) => void done.push({ verb: 'create', name }),
    patch: async (_, { name }, { body, subresource }) =>
      void done.push({ verb: subresource === undefined ? 'patch' : 'status', name, body }),
    remove: async (_, { name }, options) => void done.push({ verb: 'remove', name, body: options?.preconditions }),
  };
  const resource = namespaced<ClusterObject>({ group: 'g', version: 'v', plural: 'etcdpeers', kind: 'EtcdPeer' });
  const claims = new Store<PersistentVolumeClaim>({ indexes: {}, onHandlerFailure: () => undefined });
  const of = { objects, claims, naming, namespace: 'default', owner: 'uid-1', voters: [], isOurs: true };
  return { done, keeping: { shelf: { resource, store, oldFinalizer }, writer, ...of } };
}

function peer(name: string, spec: object = {}, metadata: object = {}): Stored<ClusterObject> {
  const among = ['db-0', 'db-1', 'db-2'].map((other) => ({ name: nameOf(other), peerURL: '' }));
  const made = objects.wanted({ name: nameOf(name), version: '3.5.35', join: { as: 'newcomer', among } }, []);
  const stored = { uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '', generation: 1 };
  return { ...made, spec: { ...made.spec, ...spec }, metadata: { ...made.metadata, ...stored, ...metadata } };
}

const kept = async (seen: ClusterWorld, ...there: readonly Stored<ClusterObject>[]): Promise<readonly Write[]> => {
  const { keeping, done } = shelf(...there);
  await keepPeers(seen, keeping);
  return done;
};
const held = peer(
  'db-7',
  {},
  { finalizers: [oldFinalizer, 'somebody/elses'], deletionTimestamp: '2026-01-01T00:00:00Z' },
);
const freed = { metadata: { uid: 'uid-of-db-7', finalizers: ['somebody/elses'] } };
const three = [peer('db-0'), peer('db-1'), peer('db-2')];

describe('the EtcdPeers of a cluster', () => {
  it('are left alone while they are as they should be', async () => {
    expect(await kept(world, ...three)).toEqual([]);
  });

  it('are made again when one is missing, also while nobody answers', async () => {
    expect(await kept(world, ...three.slice(1))).toEqual([{ verb: 'create', name: 'db-0' }]);
    expect(await kept(outOfContact()(world), ...three.slice(1))).toEqual([{ verb: 'create', name: 'db-0' }]);
  });

  it('are put right when somebody edits one, and keep their history', async () => {
    const bootstrap = { initialClusterState: 'New', static: { initialCluster: [{ name: 'db-0', host: 'h' }] } };
    const [patch, ...more] = await kept(world, peer('db-0', { podTemplate: {}, bootstrap }), ...three.slice(1));
    expect(more).toEqual([]);
    expect(patch).toMatchObject({ verb: 'patch', name: 'db-0' });
    expect(patch?.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-of-db-0' },
      { op: 'replace', path: '/spec', value: { ...(peer('db-0').spec as object), bootstrap } },
    ]);
  });

  it('go when they stand for nobody, and not before etcd has said so', async () => {
    const stray = peer('db-7');
    const removal = { verb: 'remove', name: 'db-7', body: { uid: 'uid-of-db-7', resourceVersion: '1' } };
    expect(await kept(world, ...three, stray)).toEqual([removal]);
    expect(await kept(outOfContact()(world), ...three, stray)).toEqual([]);
    const leaving = { ...world, carriers: [...world.carriers, aCarrier(nameOf('db-7'))] };
    expect(await kept(leaving, ...three, stray)).toEqual([]);
  });

  it('are not held by what the original has put on them', async () => {
    expect(await kept(outOfContact()(world), ...three, held)).toEqual([{ verb: 'patch', name: 'db-7', body: freed }]);
  });

  it('leave a mark on the volume that the original wanted to delete, for whoever finds it', async () => {
    const { keeping, done } = shelf(...three, held);
    const labels = { [clusterLabel]: 'db' };
    const metadata = { name: 'db-7', namespace: 'default', uid: 'uid-of-claim', resourceVersion: '1', labels };
    keeping.claims.put({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata } as never);
    await keepPeers(world, keeping);
    expect(done.map(({ verb, body }) => [verb, body])).toMatchObject([
      ['patch', { metadata: { uid: 'uid-of-claim', annotations: { 'etcd.improbable.io/cluster-id': 'c1' } } }],
      ['patch', freed],
      ['remove', { uid: 'uid-of-db-7', resourceVersion: '1' }],
    ]);
  });

  it('are held until the cluster is ours, where it is still to be taken over', async () => {
    const memory = { ...world.memory, bootstrap: undefined, clusterId: undefined };
    expect(await kept({ ...world, memory }, ...three, held)).toEqual([
      { verb: 'remove', name: 'db-7', body: { uid: 'uid-of-db-7', resourceVersion: '1' } },
    ]);
  });

  it('are not held when their cluster is gone, whoever owned them', async () => {
    const stays = peer('db-6', {}, { finalizers: [oldFinalizer] });
    const others = peer('one-0', {}, { ...held.metadata, name: 'one-0', labels: { [clusterLabel]: 'one' } });
    const { keeping, done } = shelf(held, stays, others);
    await freePeers('default/db', { peers: keeping.shelf, writer: () => keeping.writer });
    expect(done).toEqual([{ verb: 'patch', name: 'db-7', body: freed }]);
  });

  it('are made again where the API server does not let one be put right, with their history', async () => {
    const { keeping, done } = shelf(peer('db-0', { storage: { grown: true } }), ...three.slice(1));
    const created: ClusterObject[] = [];
    const writer: PeerKeeping['writer'] = {
      ...keeping.writer,
      create: async (_, object) => void created.push(object),
      patch: async () => Promise.reject(new Failure('rejected', 'a volume can grow but not shrink')),
    };
    await keepPeers(world, { ...keeping, writer });
    expect(done).toEqual([{ verb: 'remove', name: 'db-0', body: { uid: 'uid-of-db-0', resourceVersion: '1' } }]);
    const { spec, metadata } = peer('db-0');
    const { name, namespace, labels, ownerReferences } = metadata;
    expect(created).toMatchObject([{ spec, metadata: { name, namespace, labels, ownerReferences } }]);
    const before = { ...keeping, writer, isOurs: false }; // with it would go the ReplicaSet of the original, and its pod
    await expect(keepPeers(world, before)).rejects.toMatchObject({ kind: 'rejected' });
    expect(done).toHaveLength(1);
  });

  it('are not taken from somebody who made one by hand', async () => {
    const foreign = peer('db-0', {}, { ownerReferences: [] });
    const says = 'EtcdPeer db-0 exists and does not belong to this cluster: delete it';
    await expect(kept(world, foreign, ...three.slice(1))).rejects.toMatchObject({ kind: 'rejected', message: says });
    const { keeping, done } = shelf(foreign, ...three.slice(1, 2));
    await expect(keepPeers(world, keeping)).rejects.toMatchObject({ message: says });
    expect(done).toEqual([{ verb: 'create', name: 'db-2' }]);
  });

  it('say how their members are', async () => {
    const { keeping, done } = shelf(...three);
    await publishPeers(withMember('db-2', { health: 'silent', version: undefined })(world), keeping);
    const statusOf = (name: string): unknown => done.find((each) => each.name === name)?.body;
    expect(statusOf('db-0')).toMatchObject({
      status: { id: '1', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: true, observedGeneration: 1 },
    });
    expect(statusOf('db-2')).toMatchObject({ status: { id: '3', serverVersion: '', healthy: false, leader: false } });
  });

  it('say nothing without the right to it, and what keeps one from it keeps no other', async () => {
    const { keeping, done } = shelf(...three);
    const patch =
      (failure: Failure): PeerKeeping['writer']['patch'] =>
      async (_, { name }) => {
        if (name === 'db-0') throw failure;
        done.push({ verb: 'status', name });
      };
    const failing = (failure: Failure) =>
      publishPeers(world, { ...keeping, writer: { ...keeping.writer, patch: patch(failure) } });
    await failing(new Failure('forbidden', 'no'));
    await expect(failing(new Failure('unreachable', 'later'))).rejects.toThrow('later');
    expect(done.map(({ name }) => name)).toEqual(['db-1', 'db-2', 'db-1', 'db-2']);
  });

  it('say nothing twice', async () => {
    const status = { id: '2', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: false };
    const { keeping, done } = shelf({ ...peer('db-1'), status: { ...status, observedGeneration: 1 } });
    await publishPeers(world, keeping);
    expect(done).toEqual([]);
  });
});
