import { describe, expect, it } from 'vitest';
import type { ScheduledBackup, ScheduleIntent, ScheduleWorld } from '../../model/schedule.ts';
import { type Timetable, timetableOf } from '../../schedule/timetable.ts';
import { lastBegun, planSchedule } from './plan-schedule.ts';

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
  ...{ name, uid: name, createdAt: midnight - age * hour, slot: undefined, state, isGoing: false },
});

describe('a schedule', () => {
  it('makes its first backup when its time has come, not for a time before it was there', () => {
    expect(planSchedule(world({}))).toMatchObject({ is: 'wait', for: 'time', until: midnight + hour });
    expect(planSchedule(world({ now: midnight + hour - 1 }))).toMatchObject({ is: 'wait', for: 'time' });
    expect(planSchedule(world({ now: midnight + hour }))).toEqual({ is: 'start', slot: midnight + hour });
  });

  it('makes each once, and says when the next is due', () => {
    const lastSlot = midnight + hour;
    expect(planSchedule(world({ now: lastSlot + 1, lastSlot }))).toEqual({
      ...{ is: 'wait', for: 'time', until: midnight + 2 * hour, missed: undefined },
    });
  });

  it('makes up for the last of those it has missed, and for no more', () => {
    const now = midnight + 7.5 * hour;
    expect(planSchedule(world({ now, lastSlot: midnight + hour }))).toEqual({ is: 'start', slot: midnight + 7 * hour });
    expect(planSchedule(world({ now, lastSlot: midnight + 7 * hour }))).toMatchObject({ until: midnight + 8 * hour });
  });

  it('leaves out one that is later than it may be, and says so', () => {
    const strict = { ...intent, startingDeadlineSeconds: 600 };
    const at = (now: number) => planSchedule(world({ now, intent: strict, lastSlot: midnight + hour }));
    expect(at(midnight + 7 * hour + 10 * minute)).toEqual({ is: 'start', slot: midnight + 7 * hour });
    expect(at(midnight + 7.5 * hour)).toEqual({
      ...{ is: 'wait', for: 'time', until: midnight + 8 * hour, missed: midnight + 7 * hour },
    });
  });

  it('makes one at a time: the next begins when the last is over', () => {
    const now = midnight + 2 * hour;
    const backups = [backup('slow', 'active')];
    expect(planSchedule(world({ now, backups }))).toEqual({ is: 'wait', for: 'backup', name: 'slow' });
    expect(planSchedule(world({ now, backups: [backup('slow', 'succeeded')] }))).toMatchObject({ is: 'start' });
  });

  it('makes none while it is suspended, and one when it no longer is', () => {
    const now = midnight + 5 * hour;
    expect(planSchedule(world({ now, intent: { ...intent, paused: true } }))).toEqual({ is: 'paused' });
    expect(planSchedule(world({ now }))).toEqual({ is: 'start', slot: now });
  });

  it('makes nothing twice when the clock is put back', () => {
    const lastSlot = midnight + 3 * hour;
    expect(planSchedule(world({ now: midnight + 2.5 * hour, lastSlot }))).toMatchObject({
      ...{ is: 'wait', for: 'time', until: midnight + 4 * hour },
    });
  });

  it('was begun last when it was made last, and not at a time that has not come yet', () => {
    const now = midnight + 2.5 * hour;
    expect(lastBegun(now, undefined, [undefined])).toBeUndefined();
    expect(lastBegun(now, midnight, [midnight + hour, undefined])).toBe(midnight + hour);
    expect(lastBegun(now, midnight + 720 * hour, [midnight + 720 * hour, midnight + hour])).toBe(now);
    expect(lastBegun(now, midnight, [midnight + 720 * hour])).toBe(midnight);
  });

  describe('whose backup cannot begin', () => {
    const slot = midnight + hour;
    const blocked = { ...backup('s-1', 'active', -1), slot, isBlocked: true, message: 'no Secret' };
    const at = (minutes: number, over: Partial<ScheduledBackup> = {}, of = intent) =>
      planSchedule(
        world({ now: slot + minutes * minute, lastSlot: slot, backups: [{ ...blocked, ...over }], intent: of }),
      );

    it('waits for it, and makes the next in its place when that is due', () => {
      expect(at(59)).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(60)).toMatchObject({ is: 'replace', backup: { name: 's-1' } });
      expect(at(60, { isBlocked: false })).toEqual({ is: 'wait', for: 'backup', name: 's-1' });
      expect(at(60, { isGoing: true })).toEqual({ is: 'wait', for: 'backup', name: 's-1' });
    });

    it('makes another in its place when it asks for another, but leaves alone what is being made', () => {
      expect(at(1, { isOutdated: true })).toMatchObject({ is: 'replace' });
      expect(at(0.1, { isOutdated: true })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(1, { isOutdated: true, isBlocked: false })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(1, { isOutdated: true, state: 'succeeded', isBlocked: false })).toMatchObject({ is: 'wait' });
    });

    it('does not make room for one that would be too late, nor while it is suspended', () => {
      expect(at(90, {}, { ...intent, startingDeadlineSeconds: 600 })).toMatchObject({ is: 'wait', for: 'time' });
      expect(at(60, {}, { ...intent, paused: true })).toEqual({ is: 'paused' });
    });
  });

  it('forgets the oldest beyond its limits, of each end by itself, and none that is being made', () => {
    const backups = [
      ...[1, 2, 3].map((age) => backup(`good-${age}`, 'succeeded', age)),
      ...[4, 5].map((age) => backup(`bad-${age}`, 'failed', age)),
      backup('slow', 'active', 9),
    ];
    const verdict = planSchedule(world({ backups }));
    expect(verdict.is === 'forget' ? verdict.backups.map(({ name }) => name) : verdict).toEqual(['good-3', 'bad-5']);
  });

  it('forgets also while it is suspended, and nothing that goes already', () => {
    const history = { succeeded: 0, failed: 0 };
    const suspended = { ...intent, paused: true, history };
    const good = backup('good', 'succeeded');
    expect(planSchedule(world({ intent: suspended, backups: [good] }))).toEqual({ is: 'forget', backups: [good] });
    const going = [{ ...good, isGoing: true }];
    expect(planSchedule(world({ intent: suspended, backups: going }))).toEqual({ is: 'paused' });
  });
});
