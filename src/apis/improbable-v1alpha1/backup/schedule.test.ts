import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScheduledBackup, ScheduleWorld } from '../../../core/schedule/model.ts';
import { planSchedule } from '../../../core/schedule/plan.ts';
import type { ReadSchedule } from '../../common/schedule-dialect.ts';
import { improbableSchedules } from './schedule.ts';

const created = '2026-01-01T00:00:00Z';
const template = {
  source: { clusterURL: 'http://my-cluster:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db' },
};
const schedule = (spec: object = {}, status?: object): object => ({
  metadata: { name: 's', namespace: 'n', uid: 'u', creationTimestamp: created },
  spec: { schedule: '@hourly', backupTemplate: template, ...spec },
  ...(status === undefined ? {} : { status }),
});

function valueOf(raw: object): ReadSchedule {
  const read = improbableSchedules.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}
const problems = (raw: object): string => {
  const read = improbableSchedules.read(raw);
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

describe('an EtcdBackupSchedule', () => {
  it('of the original is read, and its template is the spec of its backups', () => {
    const { intent, backupSpec, lastSlot, objectUrl } = valueOf(schedule());
    expect(intent).toMatchObject({ paused: false, history: { succeeded: 10, failed: 10 } });
    expect(intent.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T01:00:00Z'));
    expect(backupSpec).toEqual(template);
    expect(objectUrl.template).toBe(template.destination.objectURLTemplate);
    expect(lastSlot).toBeUndefined();
  });

  it('follows its time zone', () => {
    const { intent } = valueOf(schedule({ schedule: '0 3 * * *', timeZone: 'Asia/Tokyo' }));
    expect(intent.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T18:00:00Z'));
  });

  it.each<[string, object, string]>([
    ['an empty schedule', { schedule: '' }, 'spec.schedule: must be five cron fields'],
    ['plain text', { schedule: 'every day' }, 'spec.schedule: must be five cron fields'],
    ['six fields', { schedule: '* * * * * *' }, 'spec.schedule: must be five cron fields'],
    ['an invalid minute', { schedule: '99 * * * *' }, 'spec.schedule: "99 * * * *" is not a valid schedule'],
    ['a date that does not exist', { schedule: '0 0 30 2 *' }, 'spec.schedule: "0 0 30 2 *" matches no date'],
    ['an unknown time zone', { timeZone: 'Mars/Olympus' }, 'spec.timeZone: "Mars/Olympus" is not a time zone'],
    ['an unknown TZ prefix', { schedule: 'TZ=Mars @daily' }, 'spec.schedule: "Mars" is not a time zone'],
    ['two time zones', { schedule: 'TZ=UTC @daily', timeZone: 'UTC' }, 'the time zone is set twice'],
    ['a duration without a unit', { schedule: '@every 5' }, 'spec.schedule: must be five cron fields'],
    [
      'an interval above the limit',
      { schedule: '@every 9999999999h' },
      'spec.schedule: "9999999999h" is longer than 100',
    ],
    ['a deadline of 0', { startingDeadlineSeconds: 0 }, 'spec.startingDeadlineSeconds: must be from 1'],
    ['a negative history limit', { failedBackupsHistoryLimit: -1 }, 'spec.failedBackupsHistoryLimit: must be from 0'],
    ['no template', { backupTemplate: undefined }, 'spec.backupTemplate: must be set'],
    [
      'a template that makes no sense',
      { backupTemplate: { ...template, source: {} } },
      'spec.backupTemplate.source: one of clusterURL and clusterName must be set',
    ],
  ])('with %s is refused', (_title, over, message) => {
    expect(problems(schedule(over))).toContain(message);
  });

  it('with any content is read without an exception', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void improbableSchedules.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void improbableSchedules.read(schedule(raw, raw))));
    fc.assert(fc.property(fc.string(), (text) => void improbableSchedules.read(schedule({ schedule: text }))));
  });
});

describe('a backup of a schedule', () => {
  it('has its scheduled time and its state', () => {
    const annotations = improbableSchedules.scheduledAtAnnotations(Date.parse(created));
    const read = (phase?: string) => improbableSchedules.readBackup({ metadata: { annotations }, status: { phase } });
    expect(read()).toEqual({ state: 'active', slot: Date.parse(created), isBlocked: false });
    expect([read('BackingUp').state, read('Completed').state, read('Failed').state]).toEqual([
      ...['active', 'succeeded', 'failed'],
    ]);
    expect(improbableSchedules.readBackup({ metadata: {} })).toMatchObject({ state: 'active', slot: undefined });
  });

  it('has the reason that blocks it', () => {
    const conditions = [{ type: 'Progressing', status: 'True', reason: 'BackupBlocked' }];
    const status = { phase: 'BackingUp', message: 'no Secret', conditions };
    expect(improbableSchedules.readBackup({ metadata: {}, status })).toMatchObject({
      ...{ state: 'active', isBlocked: true, message: 'no Secret' },
    });
  });
});

describe('the status of an EtcdBackupSchedule', () => {
  const now = Date.parse('2026-01-01T05:30:00Z');
  const slot = Date.parse('2026-01-01T05:00:00Z');
  const one = (state: ScheduledBackup['state']): ScheduledBackup => ({
    ...{ name: 's-1', uid: '1', createdAt: slot, slot, state, isTerminating: false },
  });
  const write = (over: Partial<ScheduleWorld>, previous: unknown = {}): Record<string, unknown> => {
    const world = { now, intent: valueOf(schedule()).intent, lastSlot: undefined, backups: [], ...over };
    const verdict = planSchedule(world);
    return improbableSchedules.writeStatus({ verdict, world, generation: 1, now: new Date(now) }, previous) as never;
  };

  it('has the last, the running and the next backup', () => {
    expect(write({})).toMatchObject({
      lastScheduleTime: '2026-01-01T05:00:00Z',
      conditions: [{ type: 'Progressing', status: 'True', reason: 'Saving' }],
    });
    expect(write({ lastSlot: slot, backups: [one('active')] })).toMatchObject({
      ...{ active: 's-1', lastBackup: 's-1', nextScheduleTime: '2026-01-01T06:00:00Z' },
      conditions: [{ type: 'Progressing', status: 'True', message: 'EtcdBackup s-1 is running' }],
    });
  });

  it('has the result of the last backup, also after the EtcdBackup was deleted', () => {
    const after = write({ lastSlot: slot, backups: [one('succeeded')] });
    expect(after).toMatchObject({ lastSuccessfulTime: '2026-01-01T05:00:00Z', lastBackup: 's-1' });
    expect(after['conditions']).toMatchObject([{ reason: 'Scheduled' }, { type: 'Succeeded', status: 'True' }]);
    expect(write({ lastSlot: slot, backups: [] }, after)).toEqual(after);
    const failed = write({ lastSlot: slot, backups: [one('failed')] }, after);
    expect(failed['conditions']).toMatchObject([{}, { type: 'Succeeded', status: 'False', reason: 'BackupFailed' }]);
    expect(failed['lastSuccessfulTime']).toBe('2026-01-01T05:00:00Z');
  });

  it('has the message of its backup', () => {
    const blocked = { ...one('active'), isBlocked: true, message: 'Secret "aws" does not exist' };
    expect(write({ lastSlot: slot, backups: [blocked] })).toMatchObject({
      conditions: [{ status: 'True', reason: 'BackupBlocked', message: expect.stringContaining('Secret "aws"') }],
    });
    const failed = { ...one('failed'), message: 'no such bucket' };
    expect(write({ lastSlot: slot, backups: [failed] })['conditions']).toMatchObject([
      ...[{}, { type: 'Succeeded', status: 'False', message: 'EtcdBackup s-1: no such bucket' }],
    ]);
  });

  it('has no lastScheduleTime while a blocked backup is replaced', () => {
    const blocked = { ...one('active'), isBlocked: true, isOutdated: true };
    const status = write({ lastSlot: slot, backups: [blocked] });
    expect(status).not.toHaveProperty('lastScheduleTime');
    expect(valueOf(schedule({}, status)).lastSlot).toBeUndefined();
  });

  it('is the memory of the next pass', () => {
    expect(valueOf(schedule({}, write({}))).lastSlot).toBe(slot);
  });

  it('of an invalid spec has the problems and no nextScheduleTime', () => {
    const before = write({ lastSlot: slot, backups: [one('succeeded')] });
    const status = improbableSchedules.writeProblems('no', before, new Date(now)) as Record<string, unknown>;
    expect(status).not.toHaveProperty('nextScheduleTime');
    expect(status['conditions']).toMatchObject([{ reason: 'BadSpec', message: 'no' }, { type: 'Succeeded' }]);
  });
});
