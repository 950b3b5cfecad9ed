import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../src/dialects/coreos-v1beta2/backup.ts';
import { improbableSchedules } from '../../src/dialects/improbable-v1alpha1/schedule.ts';
import type { Pod } from '../../src/kube/object.ts';
import { Killed, SimulatedBackups } from './simulated-backups.ts';

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

/** What befalls the operator and its agents while some seconds go by. */
const mishap = fc.record({
  seconds: fc.integer({ min: 0, max: 25 }),
  writes: fc.option(fc.integer({ min: 1, max: 3 }), { nil: Number.POSITIVE_INFINITY }),
  isLastDone: fc.boolean(),
  losesPods: fc.boolean(),
  works: fc.boolean(),
});
type Mishap = typeof mishap extends fc.Arbitrary<infer M> ? M : never;

async function goOn(world: SimulatedBackups, { seconds, writes, isLastDone, losesPods, works }: Mishap): Promise<void> {
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
const shown = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');

const active = (world: SimulatedBackups) =>
  world.backups.all().filter((backup) => improbableSchedules.readBackup(backup).state === 'active');

describe.each([
  ['beside its resource', 'file://claim/{{ .UID }}.db'],
  ["in the operator's namespace", 's3://bucket/{{ .UID }}.db'],
])('a schedule whose agents work %s', (_, url) => {
  it('makes each backup once and one at a time, whoever is killed, and tells no lies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 25 }), async (mishaps) => {
        const world = new SimulatedBackups(start);
        world.create(world.schedules, scheduleAt(url));
        for (const each of mishaps) {
          await goOn(world, each);
          expect(active(world).length).toBeLessThanOrEqual(1);
          expect(world.pods.all().filter(isUnderWay).length).toBeLessThanOrEqual(1);
        }
        expect(new Set(world.made).size).toBe(world.made.length);
        expect(world.lies).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('is up to date soon after the last mishap, and leaves nothing lying about', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 15 }), async (mishaps) => {
        const world = new SimulatedBackups(start);
        world.create(world.schedules, scheduleAt(url));
        for (const each of mishaps) await goOn(world, each);
        world.now += everySeconds * 1000;
        for (let i = 0; i < 20; i++) await goOn(world, calm);
        const latest = start + Math.floor((world.now - start) / 1000 / everySeconds) * everySeconds * 1000;
        const [schedule] = world.schedules.all();
        expect(schedule?.status).toMatchObject({
          lastScheduleTime: shown(latest),
          lastSuccessfulTime: shown(latest),
        });
        expect(active(world)).toEqual([]);
        expect(world.backups.size).toBe(Math.min(world.made.length, keeps));
        expect(world.pods.size).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  it('takes its backups and their agents along when it is deleted', async () => {
    const world = new SimulatedBackups(start);
    world.create(world.schedules, scheduleAt(url));
    await goOn(world, { ...calm, seconds: everySeconds });
    expect([world.backups.size, world.pods.size]).toEqual([1, 1]);
    for (const schedule of world.schedules.all()) world.schedules.remove(schedule);
    for (let i = 0; i < 3; i++) await goOn(world, calm);
    expect([world.backups.size, world.pods.size]).toEqual([0, 0]);
  });
});

describe('a backup with a schedule of its own', () => {
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
  const until = async (world: SimulatedBackups, time: number): Promise<void> => {
    world.now = time;
    for (let i = 0; i < 6; i++) await goOn(world, calm);
  };
  const statusOf = (world: SimulatedBackups): unknown => world.backups.all()[0]?.status;

  it('is made at its times, not at once, and says when the last was and the next is due', async () => {
    const world = worldWith(nightly);
    await until(world, start + minute);
    expect(world.begunFor).toEqual([]);
    expect(statusOf(world)).toMatchObject({ nextScheduleTime: shown(night(0)) });
    await until(world, night(0) - 1);
    expect(world.begunFor).toEqual([]);
    for (const count of [0, 1]) {
      await until(world, night(count));
      expect(statusOf(world)).toMatchObject({
        ...{ succeeded: true, lastScheduleTime: shown(night(count)), nextScheduleTime: shown(night(count + 1)) },
      });
    }
    expect(world.begunFor).toEqual([night(0), night(1)]);
  });

  it('makes up for the last that an outage has cost, or leaves it out where it would be too late', async () => {
    const [patient, strict] = [worldWith(nightly), worldWith({ ...nightly, startingDeadlineSeconds: 600 })];
    for (const world of [patient, strict]) {
      await until(world, night(0) + 9 * minute);
      await until(world, night(3) + hour);
      expect(statusOf(world)).toMatchObject({ nextScheduleTime: shown(night(4)) });
    }
    expect(patient.begunFor).toEqual([night(0), night(3)]);
    expect(statusOf(patient)).toMatchObject({ lastScheduleTime: shown(night(3)) });
    expect(strict.begunFor).toEqual([night(0)]);
    expect(statusOf(strict)).toMatchObject({ lastScheduleTime: shown(night(0)), lastMissedTime: shown(night(3)) });
  });

  it('leaves out one that was held up for too long', async () => {
    const world = worldWith({ ...nightly, startingDeadlineSeconds: 600 });
    world.missing.add('aws');
    await until(world, night(0));
    expect(statusOf(world)).toMatchObject({ Reason: expect.stringContaining('Secret "aws" is not there') });
    await until(world, night(0) + 11 * minute);
    world.missing.clear();
    await until(world, night(0) + 12 * minute);
    expect(world.begunFor).toEqual([]);
    expect(statusOf(world)).toMatchObject({ Reason: '', lastMissedTime: shown(night(0)) });
    await until(world, night(1));
    expect(statusOf(world)).toMatchObject({ succeeded: true, lastScheduleTime: shown(night(1)) });
  });

  it.each([
    ['behind', -hour],
    ['ahead', hour],
  ])('starts no pod beside a terminating one for a minute, with the clock of the API server %s', async (_, skew) => {
    const world = worldWith({ schedule: '* * * * *' });
    world.skewMillis = skew;
    world.now = start + minute;
    while (world.askedToGo.length === 0) await goOn(world, calm);
    world.isNodeLost = true;
    const begun = world.begunFor.length;
    for (let passed = 0; passed < 70; passed += 10) {
      expect(world.begunFor).toHaveLength(begun);
      await goOn(world, { ...calm, seconds: 10 });
    }
    for (let passed = 0; passed < 20; passed += 10) await goOn(world, { ...calm, seconds: 10 });
    expect(world.begunFor).toHaveLength(begun + 1);
  });

  it('never has two pods, and is up to date soon after the last mishap, whoever is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 25 }), async (mishaps) => {
        const world = worldWith({ schedule: '* * * * *' });
        for (const each of mishaps) {
          await goOn(world, each);
          expect(world.pods.all().filter(isUnderWay).length).toBeLessThanOrEqual(1);
        }
        await until(world, world.now + minute);
        await until(world, world.now);
        const latest = Math.floor(world.now / minute) * minute;
        expect(statusOf(world)).toMatchObject({
          ...{ succeeded: true, lastScheduleTime: shown(latest), nextScheduleTime: shown(latest + minute) },
        });
      }),
      { numRuns: 25 },
    );
  });
});
