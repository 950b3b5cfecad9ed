import { expect, it } from 'vitest';
import { aClaim, anUpkeepWorld, podSpecApi, readOf } from '../../../../../test/support/upkeep-worlds.ts';
import { aWorld } from '../../../../../test/support/worlds.ts';
import { cannotGrowAnnotation } from '../../../manifests/pvc.ts';
import type { LiveClaim } from '../../model/live-objects.ts';
import { growPvcs } from './pvc-sizes.ts';

const persistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
const { blueprint } = readOf({ size: 1, pod: { persistentVolumeClaimSpec } }, podSpecApi);
const annotation = cannotGrowAnnotation(blueprint.naming);
const grown = (change: Partial<LiveClaim> = {}, world = aWorld()) =>
  growPvcs(
    anUpkeepWorld(
      blueprint,
      { claims: [{ object: aClaim('db-0'), hasVolume: true, isTooSmall: true, ...change }] },
      world,
    ),
  );

it('a bound PVC that is too small is resized', () => {
  expect(grown()).toEqual([
    {
      kind: 'grow-volume',
      claim: 'db-0',
      uid: 'uid-of-db-0',
      storage: '2Gi',
      refused: { [annotation]: '2Gi' },
      why: 'PersistentVolumeClaim db-0 requests less storage than 2Gi',
    },
  ]);
});

it.each<[string, Partial<LiveClaim>]>([
  ['is large enough', { isTooSmall: false }],
  ['has no volume', { hasVolume: false }],
  ['is being deleted', { object: aClaim('db-0', { deletionTimestamp: '2026-01-01T00:00:00Z' }) }],
  ['cannot grow to this size', { object: aClaim('db-0', { annotations: { [annotation]: '2Gi' } }) }],
])('a PVC is not resized if it %s', (_, change) => expect(grown(change)).toEqual([]));

it('a PVC that could not grow to another size is resized', () =>
  expect(grown({ object: aClaim('db-0', { annotations: { [annotation]: '3Gi' } }) })).toHaveLength(1));

it('no PVC is resized while the owner of the PVCs is uncertain', () => {
  const { memory } = aWorld();
  expect(grown({}, { ...aWorld(), memory: { ...memory, ambiguity: 'uncertain' } })).toEqual([]);
});
