import { expect, it } from 'vitest';
import { aKnownWorld, type Change, nameOf, wanting, withMember } from '../../../../../test/support/worlds.ts';
import type { KeptVolume } from '../../model/removed-volumes.ts';
import { deleteRemovedVolumes } from './delete-removed-volumes.ts';

const hour = 3_600_000;
const due: KeptVolume = {
  claim: 'db-9',
  uid: 'u',
  member: nameOf('db-9'),
  removedAt: 0,
  isMounted: false,
  isLeaving: false,
  watched: { millis: 2 * hour, observations: 100 },
};

/** The verdict on one PVC of a removed member, in a healthy cluster of three with these changes. */
const verdictOn = (volume: Partial<KeptVolume>, ...changes: readonly Change[]) =>
  deleteRemovedVolumes({ ...aKnownWorld(...changes), keptVolumes: [{ ...due, ...volume }] });

it('the PVC of a removed member is deleted after its grace time', () =>
  expect(verdictOn({})).toMatchObject({ steps: [{ kind: 'delete-volume', claim: 'db-9', uid: 'u' }] }));

it.each<[string, Partial<KeptVolume>, Change[]]>([
  ['a pod mounts it', { isMounted: true }, []],
  ['it is being deleted', { isLeaving: true }, []],
  ['its grace time is not over', { watched: { millis: 1_000, observations: 5 }, removedAt: undefined }, []],
  ['a member does not answer', {}, [withMember('db-2', { health: 'silent' })]],
  ['a member is missing', {}, [wanting(5)]],
  ['an alarm is raised', {}, [withMember('db-1', { alarms: ['NOSPACE'] })]],
])('the PVC of a removed member is kept while %s', (_, volume, changes) =>
  expect(verdictOn(volume, ...changes)).toBeUndefined(),
);
