import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, outOfContact, withMember } from '../../../test/support/worlds.ts';
import { deleteKeptVolumes } from '../plan/cluster/delete-kept-volumes.ts';
import { statusOf } from '../status/cluster-status.ts';
import { claimNamesOf, memberOfClaim } from './claim-names.ts';
import type { ClusterWorld } from './cluster.ts';
import { isOver, type KeptVolume } from './kept-volumes.ts';

const hour = 3_600_000;
const removedAt = Date.parse('2026-01-01T00:00:00Z');
const volume = (change: Partial<KeptVolume> = {}): KeptVolume => ({
  ...{ claim: 'db-9', uid: 'c', member: nameOf('db-9'), removedAt, isMounted: false, isLeaving: false },
  watched: { millis: hour, looks: 100 },
  ...change,
});
const watched = (millis: number, looks = 100) => ({ watched: { millis, looks } });

describe('the grace time of a kept volume', () => {
  const intent = { keepVolumesSeconds: 3600 };

  it.each<[string, boolean, Partial<KeptVolume>, number]>([
    ['watched for all of it, whatever the time of day is', true, watched(hour), removedAt - hour],
    ['watched for some minutes, and the time of day is past it', true, watched(300_000), removedAt + hour],
    ['the time of day is past it, but it was watched for seconds only', false, watched(299_000), removedAt + 9 * hour],
    ['the time of day is not past it yet', false, watched(hour - 1), removedAt + hour - 1],
    ['seen once', false, watched(2 * hour, 1), removedAt + 9 * hour],
    [
      'it says no time, and was watched for less',
      false,
      { removedAt: undefined, ...watched(hour - 1) },
      removedAt + 9 * hour,
    ],
    ['it says no time, and was watched for all of it', true, { removedAt: undefined, ...watched(hour) }, removedAt],
  ])('%s: %s', (...[, over, change, now]) => expect(isOver(volume(change), now, intent)).toBe(over));

  it('is as short as the spec says', () => {
    const short = { keepVolumesSeconds: 10 };
    expect(isOver(volume(watched(10_000, 2)), removedAt + 10_000, short)).toBe(true);
    expect(isOver(volume(watched(9_000, 2)), removedAt + 10_000, short)).toBe(false);
  });
});

describe('a kept volume whose grace time is over', () => {
  const keeping = (...changes: readonly ((w: ClusterWorld) => ClusterWorld)[]) =>
    aWorld((w) => ({ ...w, now: removedAt + hour, keptVolumes: [volume()] }), ...changes);
  const alarmed = withMember('db-0', { alarms: ['CORRUPT'] });
  const kept = (change: Partial<KeptVolume>) => (w: ClusterWorld) => ({ ...w, keptVolumes: [volume(change)] });

  it('is deleted by a step of its own', () => {
    expect(deleteKeptVolumes(keeping())).toMatchObject({
      reason: 'VolumeDeleted',
      steps: [{ kind: 'delete-volume', claim: 'db-9', uid: 'c', member: 'db-9' }],
    });
  });

  it.each<[string, ClusterWorld]>([
    ['a member raises an alarm', keeping(alarmed)],
    ['a member is down', keeping(withMember('db-0', { health: 'silent' }))],
    ['there are fewer members than wanted', keeping((w) => ({ ...w, intent: { ...w.intent, size: 5 } }))],
    ['etcd does not answer', keeping(outOfContact())],
    ['a pod mounts it', keeping(kept({ isMounted: true }))],
    ['it is being deleted already', keeping(kept({ isLeaving: true }))],
  ])('stays while %s', (_, world) => expect(deleteKeptVolumes(world)).toBeUndefined());

  it('is named in the status until then', () => {
    expect(statusOf(keeping(), { is: 'settled' }).keptVolumes).toEqual([
      { claim: 'db-9', member: 'db-9', until: removedAt + hour },
    ]);
  });

  it('is named in the status with the last date there is, if its annotation names a later one', () => {
    const latest = 8.64e15;
    const world = keeping(kept({ removedAt: Date.parse('+275760-09-13T00:00:00Z') }));
    const [shown] = statusOf(world, { is: 'settled' }).keptVolumes;
    expect(shown).toMatchObject({ claim: 'db-9', until: latest });
    expect(new Date(shown?.until ?? 0).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
  });
});

describe('the names of PVCs', () => {
  it('are the names of members, and where numbers come back also further ones', () => {
    expect(claimNamesOf(nameOf('db-x'), { memberNames: 'random' })).toEqual(['db-x']);
    const names = claimNamesOf(nameOf('db-1'), { memberNames: 'ordinal' });
    expect(names.slice(0, 3)).toEqual(['db-1', 'db-1-v2', 'db-1-v3']);
    expect(new Set(names.map(memberOfClaim))).toEqual(new Set(['db-1']));
    expect(['db-v2-0', 'db-1-v2-3', 'db-v1'].map(memberOfClaim)).toEqual(['db-v2-0', 'db-1-v2-3', 'db-v1']);
  });
});
