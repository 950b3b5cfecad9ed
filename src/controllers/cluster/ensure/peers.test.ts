import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, outOfContact, withIntent, withMember } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { namespaced } from '../../../kube/resource.ts';
import { byLabel, byOwner, Store } from '../../../runtime/store.ts';
import { Failure } from '../../../std/failure.ts';
import { type ClusterObject, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { livePeers, type PeerContext, publishPeers } from './peers.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 3, version: '3.5.35', podTemplate: { metadata: { labels: { team: 'a' } } } },
});
if (!read.ok || read.value.peers === undefined) throw new Error('no peers');
const objects = read.value.peers;
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
  const of = { objects, claims, namespace: 'default', owner: 'uid-1', voters: [] };
  return { done, context: { cache: { resource, store, oldFinalizer }, writer, ...of } };
}

function peer(name: string, spec: object = {}, metadata: object = {}): Stored<ClusterObject> {
  const among = ['db-0', 'db-1', 'db-2'].map((other) => ({ name: nameOf(other), peerURL: '' }));
  const made = objects.wanted({ name: nameOf(name), version: '3.5.35', join: { as: 'joining', among } }, []);
  const stored = { uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '', generation: 1 };
  return { ...made, spec: { ...made.spec, ...spec }, metadata: { ...made.metadata, ...stored, ...metadata } };
}

const three = [peer('db-0'), peer('db-1'), peer('db-2')];

describe('the EtcdPeers of a cluster', () => {
  it('are those that it owns, and those with the name of a member, with the PVCs of the former', () => {
    const foreign = peer('db-0', {}, { ownerReferences: [] });
    const unrelated = peer('one-0', {}, { ownerReferences: [] });
    const { context } = setUp(foreign, peer('db-7'), unrelated);
    const metadata = { name: 'db-7', namespace: 'default', uid: 'uid-of-claim', resourceVersion: '1' };
    context.claims.put({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata } as never);
    const live = livePeers(outOfContact()(world), context);
    expect(live?.objects.map(({ metadata: { name } }) => name)).toEqual(['db-7', 'db-0']);
    expect(live?.claims.map(({ metadata: { uid } }) => uid)).toEqual(['uid-of-claim']);
    expect(livePeers(world, undefined)).toBeUndefined();
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
