import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackupTimes } from '../../core/model/backup.ts';
import type { BackupStatus } from '../../core/status/backup-status.ts';
import { coreosBackups } from './backup.ts';

const created = '2026-01-01T00:00:00Z';
const readWith = (backupPolicy: object) =>
  coreosBackups.read({
    metadata: { name: 'b', namespace: 'n', uid: 'u', creationTimestamp: created },
    spec: { etcdEndpoints: ['http://db:2379'], storageType: 'S3', s3: { path: 'bucket/key' }, backupPolicy },
  });

function timesOf(backupPolicy: object): BackupTimes | undefined {
  const read = readWith(backupPolicy);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.intent.times;
}
const problems = (backupPolicy: object): string => {
  const read = readWith(backupPolicy);
  return read.ok ? '' : read.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
};

describe('the times of an EtcdBackup', () => {
  it('are those of its interval, the first at once', () => {
    const often = timesOf({ backupIntervalInSecond: 3600, startingDeadlineSeconds: 60 });
    expect(often).toMatchObject({ startsAtOnce: true, startingDeadlineSeconds: 60 });
    expect(often?.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T01:00:00Z'));
    expect(timesOf({ backupIntervalInSecond: 60 })?.startingDeadlineSeconds).toBeUndefined();
  });

  it.each([{}, { backupIntervalInSecond: 0 }])('are those of its schedule by the clocks of its time zone', (over) => {
    const daily = timesOf({ schedule: '0 3 * * *', timeZone: 'Asia/Tokyo', startingDeadlineSeconds: 60, ...over });
    expect(daily).toMatchObject({ startsAtOnce: false, startingDeadlineSeconds: 60 });
    expect(daily?.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T18:00:00Z'));
  });

  it('are none where it is made once', () => {
    expect(timesOf({})).toBeUndefined();
    expect(timesOf({ backupIntervalInSecond: 0, startingDeadlineSeconds: 60 })).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['nothing', { schedule: '' }, '.schedule: must be five fields'],
    ['a minute there is not', { schedule: '99 * * * *' }, '.schedule: "99 * * * *" cannot be read'],
    ['a zone there is not', { schedule: '@daily', timeZone: 'Mars' }, '.timeZone: "Mars" is no time zone'],
    ['two zones', { schedule: 'TZ=UTC @daily', timeZone: 'UTC' }, ': the time zone is said twice'],
    ['a zone of no schedule', { timeZone: 'UTC' }, ': timeZone is that of schedule'],
    ['no deadline at all', { startingDeadlineSeconds: 0 }, '.startingDeadlineSeconds: must be from 1'],
    [
      'a schedule and an interval',
      { schedule: '@daily', backupIntervalInSecond: 60 },
      ': schedule and backupIntervalInSecond exclude each other: set one of them',
    ],
  ])('are refused where they are %s', (_title, policy, says) => {
    expect(problems(policy)).toContain(`spec.backupPolicy${says}`);
  });

  it('are read whatever they are', () => {
    fc.assert(fc.property(fc.string(), (schedule) => void readWith({ schedule })));
    fc.assert(fc.property(fc.object(), (policy) => void readWith(policy)));
  });

  it('say which one was left out last, also after the next', () => {
    const write = (status: BackupStatus, previous: unknown = {}) =>
      coreosBackups.writeStatus({ status, generation: 1, now: new Date(created) }, previous);
    const waiting: BackupStatus = { isProgressing: false, reason: 'Scheduled', message: 'm', nextAt: 0 };
    const missed = write({ ...waiting, missedAt: Date.parse(created) });
    expect(missed).toMatchObject({ lastMissedTime: created });
    const run = { ok: true, message: '', facts: {}, slot: Date.parse(created) + 1000 };
    expect(write({ ...waiting, run }, missed)).toMatchObject({ lastMissedTime: created });
  });
});
