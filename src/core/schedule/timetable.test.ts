import { describe, expect, it } from 'vitest';
import { type Timetable, timetableOf } from './timetable.ts';

const at = (text: string): number => Date.parse(text);
const format = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString().replace('.000Z', 'Z');

function table(schedule: string, timeZone?: string, since = at('2026-01-01T00:00:10Z')): Timetable {
  const read = timetableOf({ schedule, timeZone, since });
  if (typeof read === 'string') throw new Error(read);
  return read;
}
const problem = (schedule: string, timeZone?: string): unknown => timetableOf({ schedule, timeZone, since: 0 });

/** All times in a range, found with next(). */
function times(of: Timetable, from: string, to: string): readonly (string | undefined)[] {
  const found: number[] = [];
  for (let time = of.next(at(from)); time !== undefined && time <= at(to); time = of.next(time)) found.push(time);
  return found.map(format);
}

describe('a timetable', () => {
  it.each([
    ['0 3 * * *', '2026-05-04T03:00:00Z', '2026-05-05T03:00:00Z'],
    ['*/15 * * * *', '2026-05-04T12:15:00Z', '2026-05-04T12:30:00Z'],
    ['0 0 * * MON', '2026-05-04T00:00:00Z', '2026-05-11T00:00:00Z'],
    ['0 0 13 * 5', '2026-05-01T00:00:00Z', '2026-05-08T00:00:00Z'],
    ['@hourly', '2026-05-04T12:00:00Z', '2026-05-04T13:00:00Z'],
    ['@daily', '2026-05-04T00:00:00Z', '2026-05-05T00:00:00Z'],
    ['@midnight', '2026-05-04T00:00:00Z', '2026-05-05T00:00:00Z'],
    ['@annually', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['CRON_TZ=Asia/Tokyo 0 3 * * *', '2026-05-03T18:00:00Z', '2026-05-04T18:00:00Z'],
    ['TZ=Asia/Tokyo @daily', '2026-05-03T15:00:00Z', '2026-05-04T15:00:00Z'],
    ['@every 1h30m', '2026-05-04T12:00:10Z', '2026-05-04T13:30:10Z'],
    ['@every 90s', '2026-05-04T12:19:40Z', '2026-05-04T12:21:10Z'],
  ])('for %s has the last time at %s and the next at %s', (schedule, last, next) => {
    const of = table(schedule);
    const now = at('2026-05-04T12:20:00Z');
    expect([format(of.latest(now)), format(of.next(now))]).toEqual([last, next]);
  });

  it('counts a time as passed from its exact moment on', () => {
    const of = table('0 * * * *');
    const noon = at('2026-05-04T12:00:00Z');
    expect(format(of.latest(noon))).toBe('2026-05-04T12:00:00Z');
    expect(format(of.latest(noon - 1))).toBe('2026-05-04T11:00:00Z');
    expect(format(of.next(noon))).toBe('2026-05-04T13:00:00Z');
    expect(table('@every 10s', undefined, noon).latest(noon + 9_999)).toBeUndefined();
    expect(table('@every 10s', undefined, noon).latest(noon + 10_000)).toBe(noon + 10_000);
  });

  it('skips and repeats no run when daylight saving time starts or ends', () => {
    const of = table('30 2 * * *', 'Europe/Berlin');
    expect(times(of, '2026-03-27T12:00:00Z', '2026-03-31T12:00:00Z')).toEqual([
      '2026-03-28T01:30:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
      '2026-03-31T00:30:00Z',
    ]);
    expect(times(of, '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
  });

  it.each(['30 2 * * *', '0 * * * *', '*/20 * * * *', '15 1,2,3 * * *'])(
    'for %s is the same forward and backward, also on days with a clock change',
    (schedule) => {
      const of = table(schedule, 'Europe/Berlin');
      for (const day of ['2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25', '2026-07-01']) {
        const from = at(`${day}T00:00:00Z`);
        for (let now = from; now < from + 86_400_000; now += 7 * 60_000) {
          const last = of.latest(now) ?? Number.NaN;
          expect(last).toBeLessThanOrEqual(now);
          expect(of.next(last) ?? Number.NaN).toBeGreaterThan(now);
        }
      }
    },
  );

  it.each([
    ['', 'is not a valid schedule'],
    ['99 * * * *', 'Invalid value for minute: 99'],
    ['* * * * * *', 'requires exactly 5 parts'],
    ['every day', 'is not a valid schedule'],
    ['@reboot', 'is not a valid schedule'],
    ['0 0 30 2 *', 'matches no date'],
    ['@every', 'is not a valid schedule'],
    ['@every day', '"day" is not a duration'],
    ['@every 5', '"5" is not a duration'],
    ['@every -5s', '"-5s" is not a duration'],
    ['@every 9999999999h', '"9999999999h" is longer than 100 years'],
    [`@every ${'9'.repeat(250)}s`, 'is longer than 100 years'],
    ['@every 876000h1s', 'is longer than 100 years'],
    ['TZ=Mars/Olympus 0 * * * *', '"Mars/Olympus" is not a time zone'],
  ])('refuses "%s"', (schedule, message) => {
    expect(problem(schedule)).toContain(message);
  });

  it('refuses an unknown time zone', () => {
    expect(problem('0 * * * *', 'Nowhere')).toContain('"Nowhere" is not a time zone');
  });

  it('supports intervals of 100 years', () => {
    expect(new Date(table('@every 876000h').next(at('2026-05-04T12:00:00Z')) ?? Number.NaN).getUTCFullYear()).toBe(
      2125,
    );
  });

  it('runs at most once a second', () => {
    expect(table('@every 1ms', undefined, 0).next(0)).toBe(1000);
  });
});
