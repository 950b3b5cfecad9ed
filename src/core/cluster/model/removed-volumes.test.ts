import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, outOfContact, withMember } from '../../../../test/support/worlds.ts';
import { planCluster } from '../plan/plan-cluster.ts';
import { statusOf } from '../status/cluster-status.ts';
import type { ClusterWorld } from './cluster.ts';
import { claimNamesOf, memberOfClaim } from './pvc-names.ts';
import { isOver, type KeptVolume } from './removed-volumes.ts';

const hour = 3_600_000;
const removedAt = Date.parse('2026-01-01T00:00:00Z');
const volume = (change: Partial<KeptVolume> = {}): KeptVolume => ({
  ...{ claim: 'db-9', uid: 'c', member: nameOf('db-9'), removedAt, isMounted: false, isLeaving: false },
  watched: { millis: hour, observations: 100 },
  ...change,
});
const watched = (millis: number, observations = 100) => ({ watched: { millis, observations } });

describe('the grace time of the PVC of a removed member is over', () => {
  const intent = { keepVolumesSeconds: 3600 };

  it.each<[string, boolean, Partial<KeptVolume>, number]>([
    ['observed for the whole grace time, whatever the time of day', true, watched(hour), removedAt - hour],
    ['observed for five minutes, and the timestamp has passed', true, watched(300_000), removedAt + hour],
    [
      'observed for less than five minutes, and the timestamp has passed',
      false,
      watched(299_000),
      removedAt + 9 * hour,
    ],
    ['the timestamp has not passed', false, watched(hour - 1), removedAt + hour - 1],
    ['observed once', false, watched(2 * hour, 1), removedAt + 9 * hour],
    [
      'no timestamp, and observed for less than the grace time',
      false,
      { removedAt: undefined, ...watched(hour - 1) },
      removedAt + 9 * hour,
    ],
    [
      'no timestamp, and observed for the whole grace time',
      true,
      { removedAt: undefined, ...watched(hour) },
      removedAt,
    ],
  ])('%s: %s', (...[, over, change, now]) => expect(isOver(volume(change), now, intent)).toBe(over));

  it('after the time that the spec sets', () => {
    const short = { keepVolumesSeconds: 10 };
    expect(isOver(volume(watched(10_000, 2)), removedAt + 10_000, short)).toBe(true);
    expect(isOver(volume(watched(9_000, 2)), removedAt + 10_000, short)).toBe(false);
  });
});

describe('the PVC of a removed member after its grace time', () => {
  const keeping = (...changes: readonly ((w: ClusterWorld) => ClusterWorld)[]) =>
    aWorld((w) => ({ ...w, now: removedAt + hour, keptVolumes: [volume()] }), ...changes);
  const alarmed = withMember('db-0', { alarms: ['CORRUPT'] });
  const kept = (change: Partial<KeptVolume>) => (w: ClusterWorld) => ({ ...w, keptVolumes: [volume(change)] });

  it('is deleted', () => {
    expect(planCluster(keeping())).toMatchObject({
      reason: 'VolumeDeleted',
      steps: [{ kind: 'delete-volume', claim: 'db-9', uid: 'c', member: 'db-9' }],
    });
  });

  it.each<[string, ClusterWorld]>([
    ['a member raises an alarm', keeping(alarmed)],
    ['a member is down', keeping(withMember('db-0', { health: 'silent' }))],
    ['there are fewer members than the spec asks for', keeping((w) => ({ ...w, intent: { ...w.intent, size: 5 } }))],
    ['etcd does not answer', keeping(outOfContact())],
    ['a pod mounts it', keeping(kept({ isMounted: true }))],
    ['the PVC is terminating', keeping(kept({ isLeaving: true }))],
  ])('stays while %s', (_, world) => expect(planCluster(world)).not.toMatchObject({ reason: 'VolumeDeleted' }));

  it('is named in the status until it is deleted', () => {
    expect(statusOf(keeping(), { is: 'settled' }).keptVolumes).toEqual([
      { claim: 'db-9', member: 'db-9', until: removedAt + hour },
    ]);
  });

  it('is named in the status with the maximum date, if its annotation exceeds it', () => {
    const latest = 8.64e15;
    const world = keeping(kept({ removedAt: Date.parse('+275760-09-13T00:00:00Z') }));
    const [reported] = statusOf(world, { is: 'settled' }).keptVolumes;
    expect(reported).toMatchObject({ claim: 'db-9', until: latest });
    expect(new Date(reported?.until ?? 0).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
  });
});

describe('the names of PVCs', () => {
  it('are the names of members, with a suffix if a numbered name is used again', () => {
    expect(claimNamesOf(nameOf('db-x'), { memberNames: 'random' })).toEqual(['db-x']);
    const names = claimNamesOf(nameOf('db-1'), { memberNames: 'ordinal' });
    expect(names.slice(0, 3)).toEqual(['db-1', 'db-1-v2', 'db-1-v3']);
    expect(new Set(names.map(memberOfClaim))).toEqual(new Set(['db-1']));
    expect(['db-v2-0', 'db-1-v2-3', 'db-v1'].map(memberOfClaim)).toEqual(['db-v2-0', 'db-1-v2-3', 'db-v1']);
  });
});
