import { describe, expect, it } from 'vitest';
import { aMemberPod, aWorld, nameOf, outOfContact, withIntent, withMember } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { namespaced } from '../../../kube/resource.ts';
import { byLabel, byOwner, Store } from '../../../runtime/store.ts';
import { Failure } from '../../../std/failure.ts';
import { type ClusterObject, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { ensurePeers, type PeerContext, publishPeers, releasePeers } from './peers.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 3, version: '3.5.35', podTemplate: { metadata: { labels: { team: 'a' } } } },
});
if (!read.ok || read.value.peers === undefined) throw new Error('no peers');
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

/** A context with these EtcdPeers, and the writes that are made with it. */
function setUp(...there: readonly Stored<ClusterObject>[]): { context: PeerContext; done: Write[] } {
  const indexes = { [ownerIndex]: byOwner, [clusterIndex]: byLabel(clusterLabel) };
  const store = new Store<ClusterObject>({ indexes, onHandlerFailure: () => undefined });
  for (const each of there) store.put(each);
  const done: Write[] = [];
  const writer: PeerContext['writer'] = {
    create: async (_, { metadata: { name } }) => void done.push({ verb: 'create', name }),
    patch: async (_, { name }, { body, subresource }) =>
      void done.push({ verb: subresource === undefined ? 'patch' : 'status', name, body }),
    remove: async (_, { name }, options) => void done.push({ verb: 'remove', name, body: options?.preconditions }),
  };
  const resource = namespaced<ClusterObject>({ group: 'g', version: 'v', plural: 'etcdpeers', kind: 'EtcdPeer' });
  const claims = new Store<PersistentVolumeClaim>({ indexes: {}, onHandlerFailure: () => undefined });
  const of = { objects, claims, naming, namespace: 'default', owner: 'uid-1', voters: [], isOurs: true };
  return { done, context: { cache: { resource, store, oldFinalizer }, writer, ...of } };
}

function peer(name: string, spec: object = {}, metadata: object = {}): Stored<ClusterObject> {
  const among = ['db-0', 'db-1', 'db-2'].map((other) => ({ name: nameOf(other), peerURL: '' }));
  const made = objects.wanted({ name: nameOf(name), version: '3.5.35', join: { as: 'joining', among } }, []);
  const stored = { uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '', generation: 1 };
  return { ...made, spec: { ...made.spec, ...spec }, metadata: { ...made.metadata, ...stored, ...metadata } };
}

const kept = async (seen: ClusterWorld, ...there: readonly Stored<ClusterObject>[]): Promise<readonly Write[]> => {
  const { context, done } = setUp(...there);
  await ensurePeers(seen, context);
  return done;
};
const held = peer(
  'db-7',
  {},
  { finalizers: [oldFinalizer, 'example.com/other'], deletionTimestamp: '2026-01-01T00:00:00Z' },
);
const freed = { metadata: { uid: 'uid-of-db-7', finalizers: ['example.com/other'] } };
const three = [peer('db-0'), peer('db-1'), peer('db-2')];

describe('the EtcdPeers of a cluster', () => {
  it('are not written while they are up to date', async () => {
    expect(await kept(world, ...three)).toEqual([]);
  });

  it('are recreated if one is missing, also while etcd does not answer', async () => {
    expect(await kept(world, ...three.slice(1))).toEqual([{ verb: 'create', name: 'db-0' }]);
    expect(await kept(outOfContact()(world), ...three.slice(1))).toEqual([{ verb: 'create', name: 'db-0' }]);
  });

  it('are corrected after an edit, except for the bootstrap field', async () => {
    const bootstrap = { initialClusterState: 'New', static: { initialCluster: [{ name: 'db-0', host: 'h' }] } };
    const [patch, ...more] = await kept(world, peer('db-0', { podTemplate: {}, bootstrap }), ...three.slice(1));
    expect(more).toEqual([]);
    expect(patch).toMatchObject({ verb: 'patch', name: 'db-0' });
    expect(patch?.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-of-db-0' },
      { op: 'replace', path: '/spec', value: { ...(peer('db-0').spec as object), bootstrap } },
    ]);
  });

  it('are deleted without a member, once etcd has answered', async () => {
    const orphan = peer('db-7');
    const removal = { verb: 'remove', name: 'db-7', body: { uid: 'uid-of-db-7', resourceVersion: '1' } };
    expect(await kept(world, ...three, orphan)).toEqual([removal]);
    expect(await kept(outOfContact()(world), ...three, orphan)).toEqual([]);
    const leaving = { ...world, memberPods: [...world.memberPods, aMemberPod(nameOf('db-7'))] };
    expect(await kept(leaving, ...three, orphan)).toEqual([]);
  });

  it('lose the finalizer of the original operator', async () => {
    expect(await kept(outOfContact()(world), ...three, held)).toEqual([{ verb: 'patch', name: 'db-7', body: freed }]);
  });

  it('have their PVC annotated before they lose the finalizer', async () => {
    const { context, done } = setUp(...three, held);
    const labels = { [clusterLabel]: 'db' };
    const metadata = { name: 'db-7', namespace: 'default', uid: 'uid-of-claim', resourceVersion: '1', labels };
    context.claims.put({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata } as never);
    await ensurePeers(world, context);
    expect(done.map(({ verb, body }) => [verb, body])).toMatchObject([
      ['patch', { metadata: { uid: 'uid-of-claim', annotations: { 'etcd.improbable.io/cluster-id': 'c1' } } }],
      ['patch', freed],
      ['remove', { uid: 'uid-of-db-7', resourceVersion: '1' }],
    ]);
  });

  it('keep the finalizer until the cluster is adopted', async () => {
    const memory = { ...world.memory, bootstrap: undefined, clusterId: undefined };
    expect(await kept({ ...world, memory }, ...three, held)).toEqual([
      { verb: 'remove', name: 'db-7', body: { uid: 'uid-of-db-7', resourceVersion: '1' } },
    ]);
  });

  it('lose the finalizer after the deletion of their cluster', async () => {
    const stays = peer('db-6', {}, { finalizers: [oldFinalizer] });
    const others = peer('one-0', {}, { ...held.metadata, name: 'one-0', labels: { [clusterLabel]: 'one' } });
    const { context, done } = setUp(held, stays, others);
    await releasePeers('default/db', { peers: context.cache, writer: () => context.writer });
    expect(done).toEqual([{ verb: 'patch', name: 'db-7', body: freed }]);
  });

  it('are recreated with their bootstrap field if the API server rejects a correction', async () => {
    const { context, done } = setUp(peer('db-0', { storage: { grown: true } }), ...three.slice(1));
    const created: ClusterObject[] = [];
    const writer: PeerContext['writer'] = {
      ...context.writer,
      create: async (_, object) => void created.push(object),
      patch: async () => Promise.reject(new Failure('rejected', 'a volume can grow but not shrink')),
    };
    await ensurePeers(world, { ...context, writer });
    expect(done).toEqual([{ verb: 'remove', name: 'db-0', body: { uid: 'uid-of-db-0', resourceVersion: '1' } }]);
    const { spec, metadata } = peer('db-0');
    const { name, namespace, labels, ownerReferences } = metadata;
    expect(created).toMatchObject([{ spec, metadata: { name, namespace, labels, ownerReferences } }]);
    // the ReplicaSet and pod of the original would be deleted with it
    const before = { ...context, writer, isOurs: false };
    await expect(ensurePeers(world, before)).rejects.toMatchObject({ kind: 'rejected' });
    expect(done).toHaveLength(1);
  });

  it('are not replaced if a user created one', async () => {
    const foreign = peer('db-0', {}, { ownerReferences: [] });
    const message = 'EtcdPeer db-0 exists and does not belong to this cluster: delete it';
    await expect(kept(world, foreign, ...three.slice(1))).rejects.toMatchObject({ kind: 'rejected', message });
    const { context, done } = setUp(foreign, ...three.slice(1, 2));
    await expect(ensurePeers(world, context)).rejects.toMatchObject({ message });
    expect(done).toEqual([{ verb: 'create', name: 'db-2' }]);
  });

  it('have the status of their members', async () => {
    const { context, done } = setUp(...three);
    await publishPeers(withMember('db-2', { health: 'silent', version: undefined })(world), context);
    const statusOf = (name: string): unknown => done.find((each) => each.name === name)?.body;
    expect(statusOf('db-0')).toMatchObject({
      status: { id: '1', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: true, observedGeneration: 1 },
    });
    expect(statusOf('db-2')).toMatchObject({ status: { id: '3', serverVersion: '', healthy: false, leader: false } });
  });

  it('have no status without the right to write it, and one failure does not block others', async () => {
    const { context, done } = setUp(...three);
    const patch =
      (failure: Failure): PeerContext['writer']['patch'] =>
      async (_, { name }) => {
        if (name === 'db-0') throw failure;
        done.push({ verb: 'status', name });
      };
    const failing = (failure: Failure) =>
      publishPeers(world, { ...context, writer: { ...context.writer, patch: patch(failure) } });
    await failing(new Failure('forbidden', 'no'));
    await expect(failing(new Failure('unreachable', 'later'))).rejects.toThrow('later');
    expect(done.map(({ name }) => name)).toEqual(['db-1', 'db-2', 'db-1', 'db-2']);
  });

  it('are not written if their status is unchanged', async () => {
    const status = { id: '2', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: false };
    const { context, done } = setUp({ ...peer('db-1'), status: { ...status, observedGeneration: 1 } });
    await publishPeers(world, context);
    expect(done).toEqual([]);
  });
});
