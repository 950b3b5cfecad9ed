import { Cron } from 'croner';

/** The times of a schedule expression, in milliseconds since 1970. */
export interface Timetable {
  /** The first time after `after`; undefined if there is none. */
  readonly next: (after: number) => number | undefined;
  /** The last time up to and including `until`; undefined if there is none. */
  readonly latest: (until: number) => number | undefined;
}

export interface Expression {
  /** Five cron fields, `@hourly` etc., or `@every 1h30m`; optionally with a prefix `CRON_TZ=Europe/Berlin`. */
  readonly schedule: string;
  readonly timeZone: string | undefined;
  /** The start of `@every`. */
  readonly since: number;
}

/** Parses an expression; returns an error message if it is invalid. */
export function timetableOf({ schedule, timeZone, since }: Expression): Timetable | string {
  const [, prefix, times = ''] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/.exec(schedule.trim()) ?? [];
  const zone = prefix ?? timeZone ?? 'UTC';
  if (!isZone(zone)) return `"${zone}" is not a time zone: use a name such as Europe/Berlin or UTC`;
  const every = /^@every\s+(.*)$/.exec(times)?.[1];
  return every === undefined ? ofCron(times, zone) : ofEvery(every, since);
}

/** True if the name is a known time zone. */
function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const remedy = 'write five fields such as "0 3 * * *", a word such as @hourly or @daily, or @every 1h';

function ofCron(times: string, timezone: string): Timetable | string {
  try {
    const cron = new Cron(times, { timezone, mode: '5-part', sloppyRanges: true });
    const next = (after: number): number | undefined => cron.nextRun(new Date(after))?.getTime();
    const latest = (until: number): number | undefined => lastOf(cron, next, until);
    return next(0) === undefined ? `"${times}" matches no date: ${remedy}` : { next, latest };
  } catch (thrown) {
    return `"${times}" is not a valid schedule (${thrown instanceof Error ? thrown.message : ''}): ${remedy}`;
  }
}

/**
 * Counts forward from three runs earlier. A time that a change to summer time skips is deferred when croner counts
 * forward, and can be left out when croner counts backward.
 */
function lastOf(cron: Cron, next: Timetable['next'], until: number): number | undefined {
  const before = cron.previousRuns(3, new Date(until + 1000)).at(-1);
  if (before === undefined) return undefined;
  let last = before.getTime();
  for (let time = next(last); time !== undefined && time <= until; time = next(time)) last = time;
  return last <= until ? last : undefined;
}

const millisOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0, µs: 0, ns: 0 };

/** The maximum interval: later times can exceed the range of Date. */
const longest = 100 * 365 * 24 * 3_600_000;

/** A fixed interval from `since` on, in whole seconds. */
function ofEvery(duration: string, since: number): Timetable | string {
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === duration;
  if (!isWhole) return `"${duration}" is not a duration: write it as 1h, 90m or 30s`;
  const sum = parts.reduce((total, [, count, unit = '']) => total + Number(count) * (millisOf[unit] ?? 0), 0);
  if (sum > longest) return `"${duration}" is longer than 100 years: write it as 1h, 90m or 30s`;
  const millis = Math.max(1, Math.floor(sum / 1000)) * 1000;
  const timeOf = (count: number): number => since + count * millis;
  const countAt = (time: number): number => Math.floor((time - since) / millis);
  return {
    next: (after) => timeOf(Math.max(0, countAt(after)) + 1),
    latest: (until) => (countAt(until) < 1 ? undefined : timeOf(countAt(until))),
  };
}
