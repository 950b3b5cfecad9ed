import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScheduledBackup, ScheduleWorld } from '../../core/model/schedule.ts';
import { planSchedule } from '../../core/plan/schedule/plan-schedule.ts';
import type { ReadSchedule } from '../schedule-dialect.ts';
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
  return read.ok ? '' : read.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
};

describe('an EtcdBackupSchedule', () => {
  it('of the original is read, and its backups are what its template says', () => {
    const { intent, backupSpec, lastSlot, objectUrl } = valueOf(schedule());
    expect(intent).toMatchObject({ paused: false, history: { succeeded: 10, failed: 10 } });
    expect(intent.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T01:00:00Z'));
    expect(backupSpec).toEqual(template);
    expect(objectUrl.template).toBe(template.destination.objectURLTemplate);
    expect(lastSlot).toBeUndefined();
  });

  it('goes by the clocks of its time zone', () => {
    const { intent } = valueOf(schedule({ schedule: '0 3 * * *', timeZone: 'Asia/Tokyo' }));
    expect(intent.timetable.next(Date.parse(created))).toBe(Date.parse('2026-01-01T18:00:00Z'));
  });

  it.each<[string, object, string]>([
    ['no times', { schedule: '' }, 'spec.schedule: must be five fields'],
    ['words', { schedule: 'every day' }, 'spec.schedule: must be five fields'],
    ['six fields', { schedule: '* * * * * *' }, 'spec.schedule: must be five fields'],
    ['a minute there is not', { schedule: '99 * * * *' }, 'spec.schedule: "99 * * * *" cannot be read'],
    ['a day there is not', { schedule: '0 0 30 2 *' }, 'spec.schedule: "0 0 30 2 *" never comes'],
    ['a zone there is not', { timeZone: 'Mars/Olympus' }, 'spec.timeZone: "Mars/Olympus" is no time zone'],
    ['a zone before the times that is none', { schedule: 'TZ=Mars @daily' }, 'spec.schedule: "Mars" is no time zone'],
    ['two zones', { schedule: 'TZ=UTC @daily', timeZone: 'UTC' }, 'the time zone is said twice'],
    ['a duration without a unit', { schedule: '@every 5' }, 'spec.schedule: must be five fields'],
    ['a time beyond all dates', { schedule: '@every 9999999999h' }, 'spec.schedule: "9999999999h" is longer than 100'],
    ['no deadline at all', { startingDeadlineSeconds: 0 }, 'spec.startingDeadlineSeconds: must be from 1'],
    ['a history below nothing', { failedBackupsHistoryLimit: -1 }, 'spec.failedBackupsHistoryLimit: must be from 0'],
    ['no template', { backupTemplate: undefined }, 'spec.backupTemplate: must be set'],
    [
      'a template that makes no sense',
      { backupTemplate: { ...template, source: {} } },
      'spec.backupTemplate.source: one of clusterURL and clusterName must be set',
    ],
  ])('with %s is refused', (_title, over, says) => {
    expect(problems(schedule(over))).toContain(says);
  });

  it('is read whatever it is, and never crashes', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void improbableSchedules.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void improbableSchedules.read(schedule(raw, raw))));
    fc.assert(fc.property(fc.string(), (text) => void improbableSchedules.read(schedule({ schedule: text }))));
  });
});

describe('a backup of a schedule', () => {
  it('says for which time it was made, and how it is', () => {
    const annotations = improbableSchedules.slotMark(Date.parse(created));
    const read = (phase?: string) => improbableSchedules.readBackup({ metadata: { annotations }, status: { phase } });
    expect(read()).toEqual({ state: 'active', slot: Date.parse(created), isBlocked: false });
    expect([read('BackingUp').state, read('Completed').state, read('Failed').state]).toEqual([
      ...['active', 'succeeded', 'failed'],
    ]);
    expect(improbableSchedules.readBackup({ metadata: {} })).toMatchObject({ state: 'active', slot: undefined });
  });

  it('says what keeps it from beginning', () => {
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
    ...{ name: 's-1', uid: '1', createdAt: slot, slot, state, isGoing: false },
  });
  const write = (over: Partial<ScheduleWorld>, previous: unknown = {}): Record<string, unknown> => {
    const world = { now, intent: valueOf(schedule()).intent, lastSlot: undefined, backups: [], ...over };
    const verdict = planSchedule(world);
    return improbableSchedules.writeStatus({ verdict, world, generation: 1, now: new Date(now) }, previous) as never;
  };

  it('says what was begun, what is being made and when the next is due', () => {
    expect(write({})).toMatchObject({
      lastScheduleTime: '2026-01-01T05:00:00Z',
      conditions: [{ type: 'Progressing', status: 'True', reason: 'Saving' }],
    });
    expect(write({ lastSlot: slot, backups: [one('active')] })).toMatchObject({
      ...{ active: 's-1', lastBackup: 's-1', nextScheduleTime: '2026-01-01T06:00:00Z' },
      conditions: [{ type: 'Progressing', status: 'True', message: 'EtcdBackup s-1 is being made' }],
    });
  });

  it('says how the last one ended, also when its resource is gone', () => {
    const after = write({ lastSlot: slot, backups: [one('succeeded')] });
    expect(after).toMatchObject({ lastSuccessfulTime: '2026-01-01T05:00:00Z', lastBackup: 's-1' });
    expect(after['conditions']).toMatchObject([{ reason: 'Scheduled' }, { type: 'Succeeded', status: 'True' }]);
    expect(write({ lastSlot: slot, backups: [] }, after)).toEqual(after);
    const failed = write({ lastSlot: slot, backups: [one('failed')] }, after);
    expect(failed['conditions']).toMatchObject([{}, { type: 'Succeeded', status: 'False', reason: 'BackupFailed' }]);
    expect(failed['lastSuccessfulTime']).toBe('2026-01-01T05:00:00Z');
  });

  it('passes on what its backup says', () => {
    const blocked = { ...one('active'), isBlocked: true, message: 'Secret "aws" is not there' };
    expect(write({ lastSlot: slot, backups: [blocked] })).toMatchObject({
      conditions: [{ status: 'True', reason: 'BackupBlocked', message: expect.stringContaining('Secret "aws"') }],
    });
    const failed = { ...one('failed'), message: 'no such bucket' };
    expect(write({ lastSlot: slot, backups: [failed] })['conditions']).toMatchObject([
      ...[{}, { type: 'Succeeded', status: 'False', message: 'EtcdBackup s-1: no such bucket' }],
    ]);
  });

  it('has not begun one that makes room for another', () => {
    const blocked = { ...one('active'), isBlocked: true, isOutdated: true };
    const status = write({ lastSlot: slot, backups: [blocked] });
    expect(status).not.toHaveProperty('lastScheduleTime');
    expect(valueOf(schedule({}, status)).lastSlot).toBeUndefined();
  });

  it('is what the next pass remembers', () => {
    expect(valueOf(schedule({}, write({}))).lastSlot).toBe(slot);
  });

  it('says what is wrong with a spec, and when nothing is due any more', () => {
    const before = write({ lastSlot: slot, backups: [one('succeeded')] });
    const status = improbableSchedules.writeProblems('no', before, new Date(now)) as Record<string, unknown>;
    expect(status).not.toHaveProperty('nextScheduleTime');
    expect(status['conditions']).toMatchObject([{ reason: 'BadSpec', message: 'no' }, { type: 'Succeeded' }]);
  });
});
