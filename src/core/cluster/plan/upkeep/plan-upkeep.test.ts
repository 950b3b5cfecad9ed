import { expect, it } from 'vitest';
import { aClaim, anUpkeepWorld, readOf } from '../../../../../test/support/upkeep-worlds.ts';
import { aWorld, nameOf, outOfContact, withIntent, withMemberPod } from '../../../../../test/support/worlds.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { MemberPodInput } from '../../../manifests/pod.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import type { MemberObject } from '../../model/live-objects.ts';
import { planUpkeep } from './plan-upkeep.ts';
import { isUpkeep } from './step.ts';

const { blueprint } = readOf({ replicas: 3, storage: { volumeClaimPolicy: 'Retain' } });
const ownedClaims = [aClaim('db-0', { ownerReferences: [blueprint.owner] })];
const planned = (world: ClusterWorld) => {
  const claims = ownedClaims.map((object) => ({ object, hasVolume: true, isTooSmall: false }));
  return planUpkeep(anUpkeepWorld(blueprint, { ownedClaims, claims, budgets: [] }, world));
};
const kindsIn = (world: ClusterWorld) => planned(world).map(({ kind }) => kind);

it('every missing or outdated object is written, and each step has its cause', () => {
  expect(kindsIn(aWorld())).toEqual(['create-object', 'create-object', 'create-object', 'own-volume']);
  expect(planned(aWorld()).every(({ why }) => why !== '')).toBe(true);
  expect(planned(aWorld()).every(isUpkeep)).toBe(true);
});

it('a paused cluster only releases PVCs that are to outlive it', () => {
  expect(kindsIn(aWorld(withIntent({ paused: true })))).toEqual(['own-volume']);
});

it('the objects of another operator are not changed before its members are known', () => {
  const memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
  const inherited = { ...aWorld(withMemberPod('db-0', { isForeign: true })), memory };
  expect(kindsIn(outOfContact()(inherited))).toEqual([]);
  expect(kindsIn(inherited)).toContain('create-object');
  expect(kindsIn({ ...aWorld(), missingPermission: 'may not list ReplicaSets' })).toEqual([]);
});

it('one plan has the steps of every rule', () => {
  const volumeClaimTemplate = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
  const read = readOf({ replicas: 3, storage: { volumeClaimTemplate, volumeClaimPolicy: 'Retain' } });
  const wanted = (input: MemberPodInput) => ({ apiVersion: 'v1', ...read.peers?.wanted(input, []) }) as Manifest;
  const lost = (name: string): MemberObject => ({ of: 'Pod', object: aClaim(name), member: nameOf(name) });
  const live = {
    budgets: [],
    peers: { kind: 'EtcdPeer', objects: [], claims: [], oldFinalizer: '', wanted },
    claims: ownedClaims.map((object) => ({ object, hasVolume: true, isTooSmall: true })),
    memberObjects: [lost('db-0')],
  };
  const world = { ...aWorld(), hidden: [{ why: '', lost: lost('db-1') }] };
  const steps = planUpkeep(anUpkeepWorld(read.blueprint, live, world));
  expect(steps.map((step) => [step.kind, 'name' in step ? step.name : ''])).toEqual([
    ['create-object', ''],
    ['create-object', ''],
    ['create-object', ''],
    ['create-peer', ''],
    ['create-peer', ''],
    ['create-peer', ''],
    ['own-volume', ''],
    ['restore-labels', 'db-1'],
    ['restore-labels', 'db-0'],
    ['grow-volume', ''],
  ]);
});
