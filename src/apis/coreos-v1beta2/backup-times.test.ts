import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackupTimes } from '../../core/backup/model.ts';
import type { BackupStatus } from '../../core/backup/status.ts';
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
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

describe('the times of an EtcdBackup', () => {
  it('follow its interval, and the first is at once', () => {
    const often = timesOf({ backupIntervalInSecond: 3600, startingDeadlineSeconds: 60 });
    expect(often).toMatchObject({ startsAtOnce: true, startingDeadlineSeconds: 60 });
    expect(often?.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T01:00:00Z'));
    expect(timesOf({ backupIntervalInSecond: 60 })?.startingDeadlineSeconds).toBeUndefined();
  });

  it.each([{}, { backupIntervalInSecond: 0 }])('follow its schedule in its time zone', (over) => {
    const daily = timesOf({ schedule: '0 3 * * *', timeZone: 'Asia/Tokyo', startingDeadlineSeconds: 60, ...over });
    expect(daily).toMatchObject({ startsAtOnce: false, startingDeadlineSeconds: 60 });
    expect(daily?.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T18:00:00Z'));
  });

  it('are undefined for a one-time backup', () => {
    expect(timesOf({})).toBeUndefined();
    expect(timesOf({ backupIntervalInSecond: 0, startingDeadlineSeconds: 60 })).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['an empty schedule', { schedule: '' }, '.schedule: must be five cron fields'],
    ['an invalid minute', { schedule: '99 * * * *' }, '.schedule: "99 * * * *" is not a valid schedule'],
    ['an unknown time zone', { schedule: '@daily', timeZone: 'Mars' }, '.timeZone: "Mars" is not a time zone'],
    ['two time zones', { schedule: 'TZ=UTC @daily', timeZone: 'UTC' }, ': the time zone is set twice'],
    ['a time zone without a schedule', { timeZone: 'UTC' }, ': timeZone applies to schedule'],
    ['a deadline of 0', { startingDeadlineSeconds: 0 }, '.startingDeadlineSeconds: must be from 1'],
    [
      'a schedule and an interval',
      { schedule: '@daily', backupIntervalInSecond: 60 },
      ': schedule and backupIntervalInSecond exclude each other: set one of them',
    ],
  ])('are refused with %s', (_title, policy, message) => {
    expect(problems(policy)).toContain(`spec.backupPolicy${message}`);
  });

  it('with any content are read without an exception', () => {
    fc.assert(fc.property(fc.string(), (schedule) => void readWith({ schedule })));
    fc.assert(fc.property(fc.object(), (policy) => void readWith(policy)));
  });

  it('report the last missed time, also after the next backup', () => {
    const write = (status: BackupStatus, previous: unknown = {}) =>
      coreosBackups.writeStatus({ status, generation: 1, now: new Date(created) }, previous);
    const waiting: BackupStatus = { isProgressing: false, reason: 'Scheduled', message: 'm', nextAt: 0 };
    const missed = write({ ...waiting, missedAt: Date.parse(created) });
    expect(missed).toMatchObject({ lastMissedTime: created });
    const run = { ok: true, message: '', facts: {}, slot: Date.parse(created) + 1000 };
    expect(write({ ...waiting, run }, missed)).toMatchObject({ lastMissedTime: created });
  });
});
