import { describe, expect, it } from 'vitest';
import { aClaim, anUpkeepWorld, readOf, stored } from '../../../../../test/support/upkeep-worlds.ts';
import { aMemberPod, aWorld, nameOf, outOfContact, withIntent } from '../../../../../test/support/worlds.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import { keepPeers, releaseAfterDeletion } from './peers.ts';
import type { LivePeers } from './world.ts';

const read = readOf({
  replicas: 3,
  version: '3.5.35',
  podTemplate: { metadata: { labels: { team: 'a' } } },
});
const { blueprint, peers: objects } = read;
if (objects === undefined) throw new Error('no EtcdPeers');
const oldFinalizer = 'example.com/pvc-cleanup';
const world = aWorld(withIntent({ memberNames: 'ordinal' }));

function peer(name: string, spec: object = {}, metadata: object = {}): LiveObject {
  const among = ['db-0', 'db-1', 'db-2'].map((other) => ({ name: nameOf(other), peerURL: '' }));
  const made = objects?.wanted({ name: nameOf(name), version: '3.5.35', join: { as: 'joining', among } }, []);
  if (made === undefined) throw new Error('no EtcdPeers');
  return stored({ ...made, spec: { ...made.spec, ...spec } }, metadata);
}

const kept = (seen: typeof world, there: readonly LiveObject[], claims: readonly LiveObject[] = []) => {
  const wanted: LivePeers['wanted'] = (input) => objects.wanted(input, []);
  const peers = { kind: 'EtcdPeer', objects: there, claims, oldFinalizer, wanted };
  return keepPeers(anUpkeepWorld(blueprint, { peers }, seen));
};
const held = peer(
  'db-7',
  {},
  { finalizers: [oldFinalizer, 'example.com/other'], deletionTimestamp: '2026-01-01T00:00:00Z' },
);
const released = { kind: 'release-peer', name: 'db-7', uid: 'uid-of-db-7', finalizers: ['example.com/other'] };
const deleted = { kind: 'delete-peer', name: 'db-7', uid: 'uid-of-db-7', resourceVersion: '1' };
const three = [peer('db-0'), peer('db-1'), peer('db-2')];

describe('the EtcdPeers of a cluster', () => {
  it('are not written while they are up to date, or in an API without them', () => {
    expect(kept(world, three)).toEqual([]);
    expect(keepPeers(anUpkeepWorld(blueprint, {}))).toEqual([]);
  });

  it('are created if one is missing, also while etcd does not answer', () => {
    const created = { kind: 'create-peer', peer: { metadata: { name: 'db-0' } } };
    expect(kept(world, three.slice(1))).toMatchObject([created]);
    expect(kept(outOfContact()(world), three.slice(1))).toMatchObject([created]);
  });

  it('are corrected after an edit, except for the bootstrap field', () => {
    const bootstrap = { initialClusterState: 'New', static: { initialCluster: [{ name: 'db-0', host: 'h' }] } };
    const spec = { ...(peer('db-0').spec as object), bootstrap };
    expect(kept(world, [peer('db-0', { podTemplate: {}, bootstrap }), ...three.slice(1)])).toMatchObject([
      { kind: 'correct-peer', peer: { metadata: { uid: 'uid-of-db-0' } }, spec, mayRecreate: true },
    ]);
  });

  it('are not recreated before the cluster is adopted', () => {
    const memory = { ...world.memory, bootstrap: undefined, clusterId: undefined };
    const edited = [peer('db-0', { podTemplate: {} }), ...three.slice(1)];
    expect(kept({ ...world, memory }, edited)).toMatchObject([{ kind: 'correct-peer', mayRecreate: false }]);
  });

  it('are recreated only once a deleted one is gone', () => {
    const leaving = peer('db-0', { podTemplate: {} }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(kept(world, [leaving, ...three.slice(1)])).toEqual([]);
  });

  it('are deleted without a member, once etcd has answered', () => {
    expect(kept(world, [...three, peer('db-7')])).toMatchObject([deleted]);
    expect(kept(outOfContact()(world), [...three, peer('db-7')])).toEqual([]);
    const leaving = { ...world, memberPods: [...world.memberPods, aMemberPod(nameOf('db-7'))] };
    expect(kept(leaving, [...three, peer('db-7')])).toEqual([]);
  });

  it('lose the finalizer of the original operator', () => {
    expect(kept(outOfContact()(world), [...three, held])).toMatchObject([released]);
    expect(kept(outOfContact()(world), [...three, held])[0]).not.toHaveProperty('record');
  });

  it('have their PVC annotated before they lose the finalizer', () => {
    const annotations = { [`${blueprint.naming.prefix}/cluster-id`]: 'c1' };
    const record = { claim: 'db-7', uid: 'uid-of-db-7', annotations };
    expect(kept(world, [...three, held], [aClaim('db-7')])).toMatchObject([{ ...released, record }, deleted]);
    expect(kept(world, [...three, held], [aClaim('db-7', { annotations })])[0]).not.toHaveProperty('record');
  });

  it('keep the finalizer until the cluster is adopted', () => {
    const memory = { ...world.memory, bootstrap: undefined, clusterId: undefined };
    expect(kept({ ...world, memory }, [...three, held])).toMatchObject([deleted]);
  });

  it('lose the finalizer after the deletion of their cluster', () => {
    const stays = peer('db-6', {}, { finalizers: [oldFinalizer] });
    const original = { kind: 'EtcdPeer', oldFinalizer };
    expect(releaseAfterDeletion([held, stays, peer('db-5')], original)).toMatchObject([released]);
  });

  it('are not replaced if a user created one, which is reported', () => {
    const message = 'EtcdPeer db-0 exists and does not belong to this cluster: delete it';
    expect(kept(world, [peer('db-0', {}, { ownerReferences: [] }), peer('db-1')])).toMatchObject([
      { kind: 'report-problem', part: 'peers', failure: { kind: 'rejected', message } },
      { kind: 'create-peer', peer: { metadata: { name: 'db-2' } } },
    ]);
  });
});
