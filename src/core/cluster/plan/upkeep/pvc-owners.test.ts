import { describe, expect, it } from 'vitest';
import { aClaim, anUpkeepWorld, readOf } from '../../../../../test/support/upkeep-worlds.ts';
import { aWorld, outOfContact, withMember } from '../../../../../test/support/worlds.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import { keepPvcOwners, releasePvcs } from './pvc-owners.ts';

const blueprintWith = (volumeClaimPolicy: string) => readOf({ replicas: 3, storage: { volumeClaimPolicy } }).blueprint;
const { owner, naming } = blueprintWith('Delete');
const { prefix } = naming;
const annotations = { [`${prefix}/cluster-id`]: 'c1', [`${prefix}/members`]: 'db-0,db-1,db-2' };
const live = (object: LiveObject) => ({ object, hasVolume: true, isTooSmall: false });
const kept = (policy: string, claim: LiveObject, world = aWorld()) =>
  keepPvcOwners(anUpkeepWorld(blueprintWith(policy), { claims: [live(claim)] }, world));

describe('the PVC of a member', () => {
  it('is annotated with the cluster once its member has joined', () => {
    expect(kept('Retain', aClaim('db-0'))).toMatchObject([
      { kind: 'own-volume', claim: 'db-0', metadata: { uid: 'uid-of-db-0', annotations, ownerReferences: [] } },
    ]);
    expect(kept('Retain', aClaim('db-0'), aWorld(withMember('db-0', { health: 'silent' })))).toEqual([]);
    expect(kept('Retain', aClaim('db-0', { annotations }))).toEqual([]);
  });

  it('gets or loses the ownerReference when the policy of the spec changes', () => {
    expect(kept('Delete', aClaim('db-0', { annotations }))).toMatchObject([{ metadata: { ownerReferences: [owner] } }]);
    const owned = aClaim('db-0', { annotations, ownerReferences: [owner] });
    expect(kept('Delete', owned)).toEqual([]);
    expect(kept('Retain', owned)).toMatchObject([{ metadata: { ownerReferences: [] } }]);
  });

  it('gets no owner if it names another cluster and its member does not answer', () => {
    const other = aClaim('db-0', { annotations: { ...annotations, [`${prefix}/cluster-id`]: 'c2' } });
    expect(kept('Delete', other, aWorld(withMember('db-0', { health: 'silent' })))).toEqual([]);
    expect(kept('Delete', other, aWorld(outOfContact()))).toEqual([]);
    expect(kept('Delete', other)).toMatchObject([{ metadata: { annotations, ownerReferences: [owner] } }]);
  });

  it('is not written while it is being deleted, or before the cluster has formed', () => {
    expect(kept('Delete', aClaim('db-0', { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([]);
    const { memory } = aWorld();
    expect(kept('Delete', aClaim('db-0'), { ...aWorld(), memory: { ...memory, clusterId: undefined } })).toEqual([]);
  });
});

it('the PVC of a removed member is owned as the PVCs of members', () => {
  const keptClaims = [aClaim('db-9')];
  const steps = (policy: string) => keepPvcOwners(anUpkeepWorld(blueprintWith(policy), { keptClaims }));
  expect(steps('Delete')).toMatchObject([
    { claim: 'db-9', metadata: { uid: 'uid-of-db-9', resourceVersion: '1', ownerReferences: [owner] } },
  ]);
  expect(steps('Retain')).toEqual([]);
});

it('the PVC of a paused cluster loses the ownerReference with policy Retain, and keeps its other owners', () => {
  const other = { kind: 'ConfigMap', name: 'notes', uid: 'n' };
  const ownedClaims = [aClaim('db-0', { ownerReferences: [owner, other] })];
  const released = (policy: string) => releasePvcs(anUpkeepWorld(blueprintWith(policy), { ownedClaims }));
  expect(released('Retain')).toMatchObject([{ metadata: { resourceVersion: '1', ownerReferences: [other] } }]);
  expect(released('Delete')).toEqual([]);
});
