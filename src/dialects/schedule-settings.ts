import type { z } from 'zod';
import { type Timetable, timetableOf } from '../core/schedule/timetable.ts';
import { counted } from './counted.ts';
import { looksLike, type Rule, ruled, text } from './rule.ts';

const words = '@(yearly|annually|monthly|weekly|daily|midnight|hourly)';
const every = '@every +([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+';
const form = new RegExp(`^ *((CRON_)?TZ=[^ ]+ +)?(${words}|${every}|[^ @]+( +[^ ]+){4}) *$`);

export const schedule = ruled(
  text(256),
  looksLike(form, 'must be five fields such as 0 3 * * *, a word such as @hourly or @daily, or @every 1h'),
).describe(
  'When backups are made: five fields (minute, hour, day, month, day of the week), @hourly, @daily, @weekly, @monthly, ' +
    '@yearly, or @every 1h30m. CRON_TZ=Europe/Berlin may come first.',
);

export const timeZone = ruled(
  text(64),
  looksLike(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, 'must be the name of a time zone such as Europe/Berlin'),
).describe('Time zone of schedule; UTC if left out.');

export const startingDeadlineSeconds = counted(1).describe(
  'A backup that could not begin for so long is left out. If left out, the last one missed is made up for.',
);

/** In a status. */
export const missedTime = text(64).describe(
  'The last time for which no backup was begun, because startingDeadlineSeconds had passed.',
);

interface Times {
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
}

export const oneZone: Rule<Times> = {
  cel: "!has(self.timeZone) || !has(self.schedule) || !self.schedule.contains('TZ=')",
  says: 'the time zone is said twice: leave out timeZone, or what comes before the times in schedule',
  holds: (spec) => spec.timeZone === undefined || spec.schedule?.includes('TZ=') !== true,
};

/** What only those can judge who know all times: the API server lets it through, and the operator says what is wrong. */
export function judgeTimes(spec: Times, context: z.RefinementCtx): void {
  const read = spec.schedule === undefined ? undefined : timetableOf({ ...timesIn(spec), since: 0 });
  if (typeof read !== 'string') return;
  const path = read.includes('is no time zone') && spec.timeZone !== undefined ? ['timeZone'] : ['schedule'];
  context.addIssue({ code: 'custom', path, message: read });
}

const timesIn = ({ schedule: times = '', timeZone: zone }: Times) => ({ schedule: times, timeZone: zone });

const never: Timetable = { next: () => undefined, latest: () => undefined };

/** What was judged already has one. */
export function timetableIn(spec: Times, since: number): Timetable {
  const timetable = timetableOf({ ...timesIn(spec), since });
  return typeof timetable === 'string' ? never : timetable;
}
