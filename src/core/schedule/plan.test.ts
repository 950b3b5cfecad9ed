import { describe, expect, it } from 'vitest';
import type { ScheduledBackup, ScheduleIntent, ScheduleWorld } from './model.ts';
import { lastBegun, planSchedule } from './plan.ts';
import { type Timetable, timetableOf } from './timetable.ts';

const minute = 60_000;
const hour = 60 * minute;
const midnight = Date.parse('2026-05-04T00:00:00Z');
const createdAt = midnight + 10 * minute;
const hourly = timetableOf({ schedule: '@hourly', timeZone: undefined, since: createdAt }) as Timetable;

const intent: ScheduleIntent = {
  ...{ name: 's', namespace: 'n', uid: 'u', createdAt, timetable: hourly, paused: false },
  ...{ startingDeadlineSeconds: undefined, history: { succeeded: 2, failed: 1 } },
};
const world = (over: Partial<ScheduleWorld>): ScheduleWorld => ({
  ...{ now: createdAt + minute, intent, lastSlot: undefined, backups: [] },
  ...over,
});
const backup = (name: string, state: ScheduledBackup['state'], age = 0): ScheduledBackup => ({
  ...{ name, uid: name, createdAt: midnight - age * hour, slot: undefined, state, isTerminating: false },
});

describe('a schedule', () => {
  it('makes its first backup at the first scheduled time after its creation', () => {
    expect(planSchedule(world({}))).toMatchObject({ is: 'wait', for: 'time', until: midnight + hour });
    expect(planSchedule(world({ now: midnight + hour - 1 }))).toMatchObject({ is: 'wait', for: 'time' });
    expect(planSchedule(world({ now: midnight + hour }))).toEqual({ is: 'start', slot: midnight + hour });
  });

  it('makes each backup once, and reports the next scheduled time', () => {
    const lastSlot = midnight + hour;
    expect(planSchedule(world({ now: lastSlot + 1, lastSlot }))).toEqual({
      ...{ is: 'wait', for: 'time', until: midnight + 2 * hour, missed: undefined },
    });
  });

  it('makes up for the last of several missed backups only', () => {
    const now = midnight + 7.5 * hour;
    expect(planSchedule(world({ now, lastSlot: midnight + hour }))).toEqual({ is: 'start', slot: midnight + 7 * hour });
    expect(planSchedule(world({ now, lastSlot: midnight + 7 * hour }))).toMatchObject({ until: midnight + 8 * hour });
  });

  it('skips a backup after its starting deadline, and reports it', () => {
    const strict = { ...intent, startingDeadlineSeconds: 600 };
    const at = (now: number) => planSchedule(world({ now, intent: strict, lastSlot: midnight + hour }));
    expect(at(midnight + 7 * hour + 10 * minute)).toEqual({ is: 'start', slot: midnight + 7 * hour });
    expect(at(midnight + 7.5 * hour)).toEqual({
      ...{ is: 'wait', for: 'time', until: midnight + 8 * hour, missed: midnight + 7 * hour },
    });
  });

  it('makes one backup at a time: the next starts after the last has finished', () => {
    const now = midnight + 2 * hour;
    const backups = [backup('slow', 'active')];
    expect(planSchedule(world({ now, backups }))).toEqual({ is: 'wait', for: 'backup', name: 'slow' });
    expect(planSchedule(world({ now, backups: [backup('slow', 'succeeded')] }))).toMatchObject({ is: 'start' });
  });

  it('makes no backup while it is suspended, and one when it is resumed', () => {
    const now = midnight + 5 * hour;
    expect(planSchedule(world({ now, intent: { ...intent, paused: true } }))).toEqual({ is: 'paused' });
    expect(planSchedule(world({ now }))).toEqual({ is: 'start', slot: now });
  });

  it('makes no backup twice after the clock is set back', () => {
    const lastSlot = midnight + 3 * hour;
    expect(planSchedule(world({ now: midnight + 2.5 * hour, lastSlot }))).toMatchObject({
      ...{ is: 'wait', for: 'time', until: midnight + 4 * hour },
    });
  });

  it('ignores recorded times in the future', () => {
    const now = midnight + 2.5 * hour;
    expect(lastBegun(now, undefined, [undefined])).toBeUndefined();
    expect(lastBegun(now, midnight, [midnight + hour, undefined])).toBe(midnight + hour);
    expect(lastBegun(now, midnight + 720 * hour, [midnight + 720 * hour, midnight + hour])).toBe(now);
    expect(lastBegun(now, midnight, [midnight + 720 * hour])).toBe(midnight);
  });

  describe('with a backup that cannot start', () => {
    const slot = midnight + hour;
    const blocked = { ...backup('s-1', 'active', -1), slot, isBlocked: true, message: 'no Secret' };
    const at = (minutes: number, over: Partial<ScheduledBackup> = {}, of = intent) =>
      planSchedule(
        world({ now: slot + minutes * minute, lastSlot: slot, backups: [{ ...blocked, ...over }], intent: of }),
      );

    it('replaces it when the next backup is due', () => {
      expect(at(59)).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(60)).toMatchObject({ is: 'replace', backup: { name: 's-1' } });
      expect(at(60, { isBlocked: false })).toEqual({ is: 'wait', for: 'backup', name: 's-1' });
      expect(at(60, { isTerminating: true })).toEqual({ is: 'wait', for: 'backup', name: 's-1' });
    });

    it('replaces it when the template changes, but not a running backup', () => {
      expect(at(1, { isOutdated: true })).toMatchObject({ is: 'replace' });
      expect(at(0.1, { isOutdated: true })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(1, { isOutdated: true, isBlocked: false })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(1, { isOutdated: true, state: 'succeeded', isBlocked: false })).toMatchObject({ is: 'wait' });
    });

    it('does not replace it after the starting deadline, nor while the schedule is suspended', () => {
      expect(at(90, {}, { ...intent, startingDeadlineSeconds: 600 })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(60, {}, { ...intent, paused: true })).toEqual({ is: 'paused' });
    });
  });

  it('deletes the oldest EtcdBackups beyond its history limits, per result, and no running backup', () => {
    const backups = [
      ...[1, 2, 3].map((age) => backup(`good-${age}`, 'succeeded', age)),
      ...[4, 5].map((age) => backup(`bad-${age}`, 'failed', age)),
      backup('slow', 'active', 9),
    ];
    const verdict = planSchedule(world({ backups }));
    expect(verdict.is === 'forget' ? verdict.backups.map(({ name }) => name) : verdict).toEqual(['good-3', 'bad-5']);
  });

  it('deletes old EtcdBackups while it is suspended, and none that is terminating', () => {
    const history = { succeeded: 0, failed: 0 };
    const suspended = { ...intent, paused: true, history };
    const good = backup('good', 'succeeded');
    expect(planSchedule(world({ intent: suspended, backups: [good] }))).toEqual({ is: 'forget', backups: [good] });
    const going = [{ ...good, isTerminating: true }];
    expect(planSchedule(world({ intent: suspended, backups: going }))).toEqual({ is: 'paused' });
  });
});
