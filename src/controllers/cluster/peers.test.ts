import { describe, expect, it } from 'vitest';
import { aCarrier, aWorld, nameOf, outOfContact, withIntent, withMember } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { Stored } from '../../kube/object.ts';
import { namespaced } from '../../kube/resource.ts';
import { byOwner, Store } from '../../runtime/store.ts';
import { keepPeers, type PeerKeeping, publishPeers } from './peers.ts';
import { type ClusterObject, ownerIndex } from './sources.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 3, version: '3.5.35', podTemplate: { metadata: { labels: { team: 'a' } } } },
});
if (!read.ok || read.value.peers === undefined) throw new Error('there should be peers');
const objects = read.value.peers;
const world = aWorld(withIntent({ memberNames: 'ordinal' }));

interface Write {
  readonly verb: 'create' | 'patch' | 'remove' | 'status';
  readonly name: string;
  readonly body?: unknown;
}

/** Peers as they would be there, and what is done about them. */
function shelf(...there: readonly Stored<ClusterObject>[]): { keeping: PeerKeeping; done: Write[] } {
  const store = new Store<ClusterObject>({ indexes: { [ownerIndex]: byOwner }, onHandlerFailure: () => undefined });
  for (const each of there) store.put(each);
  const done: Write[] = [];
  const writer: PeerKeeping['writer'] = {
    create: async (_, { metadata: { name } }) => void done.push({ verb: 'create', name }),
    patch: async (_, { name }, { body, subresource }) =>
      void done.push({ verb: subresource === undefined ? 'patch' : 'status', name, body }),
    remove: async (_, { name }, options) => void done.push({ verb: 'remove', name, body: options?.preconditions }),
  };
  const resource = namespaced<ClusterObject>({ group: 'g', version: 'v', plural: 'etcdpeers', kind: 'EtcdPeer' });
  return { done, keeping: { shelf: { resource, store }, objects, namespace: 'default', owner: 'uid-1', writer } };
}

function peer(name: string, spec: object = {}, metadata: object = {}): Stored<ClusterObject> {
  const among = ['db-0', 'db-1', 'db-2'].map((other) => ({ name: nameOf(other), peerURL: '' }));
  const made = objects.wanted({ name: nameOf(name), version: '3.5.35', join: { as: 'newcomer', among } });
  const stored = { uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '', generation: 1 };
  return { ...made, spec: { ...made.spec, ...spec }, metadata: { ...made.metadata, ...stored, ...metadata } };
}

const kept = async (seen: ClusterWorld, ...there: readonly Stored<ClusterObject>[]): Promise<readonly Write[]> => {
  const { keeping, done } = shelf(...there);
  await keepPeers(seen, keeping);
  return done;
};
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
    const removal = { verb: 'remove', name: 'db-7', body: { uid: 'uid-of-db-7' } };
    expect(await kept(world, ...three, stray)).toEqual([removal]);
    expect(await kept(outOfContact()(world), ...three, stray)).toEqual([]);
    const leaving = { ...world, carriers: [...world.carriers, aCarrier(nameOf('db-7'))] };
    expect(await kept(leaving, ...three, stray)).toEqual([]);
  });

  it('are not taken from somebody who made one by hand', async () => {
    const foreign = peer('db-0', {}, { ownerReferences: [] });
    const says = 'EtcdPeer db-0 exists and does not belong to this cluster: delete it';
    await expect(kept(world, foreign, ...three.slice(1))).rejects.toMatchObject({ kind: 'rejected', message: says });
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

  it('say nothing twice', async () => {
    const status = { id: '2', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: false };
    const { keeping, done } = shelf({ ...peer('db-1'), status: { ...status, observedGeneration: 1 } });
    await publishPeers(world, keeping);
    expect(done).toEqual([]);
  });
});
