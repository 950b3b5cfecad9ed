import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../src/apis/coreos-v1beta2/backup.ts';
import { improbableSchedules } from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import type { Pod } from '../../src/kube/object.ts';
import { SimulatedBackups } from './simulated-backups.ts';
import { Killed } from './simulated-objects.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const everySeconds = 10;
const keeps = 2;

const scheduleAt = (objectURLTemplate: string) => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind: 'EtcdBackupSchedule',
  metadata: { name: 'often', namespace: 'tenant' },
  spec: {
    ...{ schedule: `@every ${everySeconds}s`, successfulBackupsHistoryLimit: keeps, failedBackupsHistoryLimit: 0 },
    backupTemplate: { source: { clusterURL: 'http://db:2379' }, destination: { objectURLTemplate } },
  },
});

/** A random disturbance: seconds that pass, a kill of the operator, lost pods, an idle kubelet. */
const mishap = fc.record({
  seconds: fc.integer({ min: 0, max: 25 }),
  writes: fc.option(fc.integer({ min: 1, max: 3 }), { nil: Number.POSITIVE_INFINITY }),
  isLastDone: fc.boolean(),
  losesPods: fc.boolean(),
  works: fc.boolean(),
});
type Mishap = typeof mishap extends fc.Arbitrary<infer M> ? M : never;

async function advance(
  world: SimulatedBackups,
  { seconds, writes, isLastDone, losesPods, works }: Mishap,
): Promise<void> {
  world.now += seconds * 1000;
  world.lifetime = { writes, isLastDone };
  if (works) world.work();
  if (losesPods) for (const pod of world.pods.all()) world.pods.remove(pod);
  await world.pass().catch((thrown: unknown) => {
    if (!(thrown instanceof Killed)) throw thrown;
  });
}

const calm: Mishap = {
  ...{ seconds: 0, writes: Number.POSITIVE_INFINITY, isLastDone: true, losesPods: false, works: true },
};

const isUnderWay = ({ status }: Pod): boolean => status?.phase !== 'Succeeded';
const isoTime = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');

const active = (world: SimulatedBackups) =>
  world.backups.all().filter((backup) => improbableSchedules.readBackup(backup).state === 'active');

describe.each([
  ['in the namespace of the backup', 'file://claim/{{ .UID }}.db'],
  ["in the operator's namespace", 's3://bucket/{{ .UID }}.db'],
])('a schedule with agent pods %s', (_, url) => {
  it('makes each backup once, one at a time, and reports no false completion, wherever the operator is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 25 }), async (mishaps) => {
        const world = new SimulatedBackups(start);
        world.create(world.schedules, scheduleAt(url));
        for (const each of mishaps) {
          await advance(world, each);
          expect(active(world).length).toBeLessThanOrEqual(1);
          expect(world.pods.all().filter(isUnderWay).length).toBeLessThanOrEqual(1);
        }
        expect(new Set(world.createdBackups).size).toBe(world.createdBackups.length);
        expect(world.falseCompletions).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('catches up after the last disturbance and leaves no pods or surplus backups', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 15 }), async (mishaps) => {
        const world = new SimulatedBackups(start);
        world.create(world.schedules, scheduleAt(url));
        for (const each of mishaps) await advance(world, each);
        world.now += everySeconds * 1000;
        for (let i = 0; i < 20; i++) await advance(world, calm);
        const latest = start + Math.floor((world.now - start) / 1000 / everySeconds) * everySeconds * 1000;
        const [schedule] = world.schedules.all();
        expect(schedule?.status).toMatchObject({
          lastScheduleTime: isoTime(latest),
          lastSuccessfulTime: isoTime(latest),
        });
        expect(active(world)).toEqual([]);
        expect(world.backups.size).toBe(Math.min(world.createdBackups.length, keeps));
        expect(world.pods.size).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  it('is deleted together with its backups and agent pods', async () => {
    const world = new SimulatedBackups(start);
    world.create(world.schedules, scheduleAt(url));
    await advance(world, { ...calm, seconds: everySeconds });
    expect([world.backups.size, world.pods.size]).toEqual([1, 1]);
    for (const schedule of world.schedules.all()) world.schedules.remove(schedule);
    for (let i = 0; i < 3; i++) await advance(world, calm);
    expect([world.backups.size, world.pods.size]).toEqual([0, 0]);
  });
});

describe('a backup with a schedule in its policy', () => {
  const minute = 60_000;
  const hour = 60 * minute;
  const worldWith = (backupPolicy: object): SimulatedBackups => {
    const world = new SimulatedBackups(start, coreosBackups);
    world.create(world.backups, {
      ...{ apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdBackup' },
      metadata: { name: 'b', namespace: 'tenant' },
      spec: {
        ...{ etcdEndpoints: ['http://db:2379'], storageType: 'S3', s3: { path: 'bucket/key', awsSecret: 'aws' } },
        backupPolicy,
      },
    });
    return world;
  };
  const nightly = { schedule: '30 2 * * *', timeZone: 'Asia/Tokyo' };
  const night = (count: number): number => Date.parse('2026-01-01T17:30:00Z') + count * 24 * hour;
  const advanceTo = async (world: SimulatedBackups, time: number): Promise<void> => {
    world.now = time;
    for (let i = 0; i < 6; i++) await advance(world, calm);
  };
  const statusOf = (world: SimulatedBackups): unknown => world.backups.all()[0]?.status;

  it('runs at its scheduled times only and reports the last and the next time', async () => {
    const world = worldWith(nightly);
    await advanceTo(world, start + minute);
    expect(world.podSlots).toEqual([]);
    expect(statusOf(world)).toMatchObject({ nextScheduleTime: isoTime(night(0)) });
    await advanceTo(world, night(0) - 1);
    expect(world.podSlots).toEqual([]);
    for (const count of [0, 1]) {
      await advanceTo(world, night(count));
      expect(statusOf(world)).toMatchObject({
        ...{ succeeded: true, lastScheduleTime: isoTime(night(count)), nextScheduleTime: isoTime(night(count + 1)) },
      });
    }
    expect(world.podSlots).toEqual([night(0), night(1)]);
  });

  it('runs once for times missed in an outage, or skips them after startingDeadlineSeconds', async () => {
    const [patient, strict] = [worldWith(nightly), worldWith({ ...nightly, startingDeadlineSeconds: 600 })];
    for (const world of [patient, strict]) {
      await advanceTo(world, night(0) + 9 * minute);
      await advanceTo(world, night(3) + hour);
      expect(statusOf(world)).toMatchObject({ nextScheduleTime: isoTime(night(4)) });
    }
    expect(patient.podSlots).toEqual([night(0), night(3)]);
    expect(statusOf(patient)).toMatchObject({ lastScheduleTime: isoTime(night(3)) });
    expect(strict.podSlots).toEqual([night(0)]);
    expect(statusOf(strict)).toMatchObject({ lastScheduleTime: isoTime(night(0)), lastMissedTime: isoTime(night(3)) });
  });

  it('skips a run that was blocked for longer than startingDeadlineSeconds', async () => {
    const world = worldWith({ ...nightly, startingDeadlineSeconds: 600 });
    world.missing.add('aws');
    await advanceTo(world, night(0));
    expect(statusOf(world)).toMatchObject({ Reason: expect.stringContaining('Secret "aws" does not exist') });
    await advanceTo(world, night(0) + 11 * minute);
    world.missing.clear();
    await advanceTo(world, night(0) + 12 * minute);
    expect(world.podSlots).toEqual([]);
    expect(statusOf(world)).toMatchObject({ Reason: '', lastMissedTime: isoTime(night(0)) });
    await advanceTo(world, night(1));
    expect(statusOf(world)).toMatchObject({ succeeded: true, lastScheduleTime: isoTime(night(1)) });
  });

  it.each([
    ['behind', -hour],
    ['ahead', hour],
  ])('starts no pod for a minute while one is terminating, with the API server clock an hour %s', async (_, skew) => {
    const world = worldWith({ schedule: '* * * * *' });
    world.skewMillis = skew;
    world.now = start + minute;
    while (world.deletedPodUids.length === 0) await advance(world, calm);
    world.isNodeLost = true;
    const begun = world.podSlots.length;
    for (let passed = 0; passed < 70; passed += 10) {
      expect(world.podSlots).toHaveLength(begun);
      await advance(world, { ...calm, seconds: 10 });
    }
    for (let passed = 0; passed < 20; passed += 10) await advance(world, { ...calm, seconds: 10 });
    expect(world.podSlots).toHaveLength(begun + 1);
  });

  it('never has two pods and catches up after the last disturbance, wherever the operator is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 25 }), async (mishaps) => {
        const world = worldWith({ schedule: '* * * * *' });
        for (const each of mishaps) {
          await advance(world, each);
          expect(world.pods.all().filter(isUnderWay).length).toBeLessThanOrEqual(1);
        }
        await advanceTo(world, world.now + minute);
        await advanceTo(world, world.now);
        const latest = Math.floor(world.now / minute) * minute;
        expect(statusOf(world)).toMatchObject({
          ...{ succeeded: true, lastScheduleTime: isoTime(latest), nextScheduleTime: isoTime(latest + minute) },
        });
      }),
      { numRuns: 25 },
    );
  });
});
