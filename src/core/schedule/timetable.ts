import { Cron } from 'croner';

/** The times that an expression stands for, in milliseconds since 1970. */
export interface Timetable {
  /** The first after a time; nothing if there will be none. */
  readonly next: (after: number) => number | undefined;
  /** The last up to a time, that one included; nothing if there was none. */
  readonly latest: (until: number) => number | undefined;
}

export interface Expression {
  /** Five fields, `@hourly` and the like, or `@every 1h30m`; a time zone may come first, as `CRON_TZ=Europe/Berlin`. */
  readonly schedule: string;
  readonly timeZone: string | undefined;
  /** What `@every` counts from. */
  readonly since: number;
}

/** Reads an expression; a sentence where it makes no sense. */
export function timetableOf({ schedule, timeZone, since }: Expression): Timetable | string {
  const [, prefix, times = ''] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/.exec(schedule.trim()) ?? [];
  const zone = prefix ?? timeZone ?? 'UTC';
  if (!isZone(zone)) return `"${zone}" is no time zone: use a name such as Europe/Berlin or UTC`;
  const every = /^@every\s+(.*)$/.exec(times)?.[1];
  return every === undefined ? ofCron(times, zone) : ofEvery(every, since);
}

/** Whether this is the name of a time zone. */
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
    return next(0) === undefined ? `"${times}" never comes: ${remedy}` : { next, latest };
  } catch (thrown) {
    return `"${times}" cannot be read (${thrown instanceof Error ? thrown.message : ''}): ${remedy}`;
  }
}

/**
 * What comes before a time is counted from further back: a time that the clocks leap over is put off by those who look
 * forward, and may be left out by those who look back.
 */
function lastOf(cron: Cron, next: Timetable['next'], until: number): number | undefined {
  const before = cron.previousRuns(3, new Date(until + 1000)).at(-1);
  if (before === undefined) return undefined;
  let last = before.getTime();
  for (let time = next(last); time !== undefined && time <= until; time = next(time)) last = time;
  return last <= until ? last : undefined;
}

const millisOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0, µs: 0, ns: 0 };

/** What comes less often than that will not be seen, and further on there are no dates. */
const longest = 100 * 365 * 24 * 3_600_000;

/** Every so often from a time on; parts of a second do not count. */
function ofEvery(duration: string, since: number): Timetable | string {
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === duration;
  if (!isWhole) return `"${duration}" is no duration: write it as 1h, 90m or 30s`;
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
