import type { z } from 'zod';
import { type Timetable, timetableOf } from '../../core/schedule/timetable.ts';
import { integerFrom } from './schema/integer-from.ts';
import { looksLike, text, type ValidationRule, withRules } from './schema/rule.ts';

const macros = '@(yearly|annually|monthly|weekly|daily|midnight|hourly)';
const every = '@every +([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+';
const form = new RegExp(`^ *((CRON_)?TZ=[^ ]+ +)?(${macros}|${every}|[^ @]+( +[^ ]+){4}) *$`);

export const schedule = withRules(
  text(256),
  looksLike(form, 'must be five cron fields such as 0 3 * * *, a macro such as @hourly or @daily, or @every 1h'),
).describe(
  'schedule is when backups start: five cron fields (minute, hour, day, month, day of the week), @hourly, @daily, @weekly, ' +
    '@monthly, @yearly, or @every 1h30m. CRON_TZ=Europe/Berlin may come first.',
);

export const timeZone = withRules(
  text(64),
  looksLike(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, 'must be the name of a time zone such as Europe/Berlin'),
).describe('timeZone is the time zone of schedule. Defaults to UTC.');

export const startingDeadlineSeconds = integerFrom(1).describe(
  'startingDeadlineSeconds is how late a backup may start; after that it is skipped. Without it, the last missed backup is made up for.',
);

/** A field of a status. */
export const missedTime = text(64).describe(
  'lastMissedTime is the last scheduled time without a backup, because startingDeadlineSeconds had passed.',
);

interface Times {
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
}

export const oneTimeZone: ValidationRule<Times> = {
  cel: "!has(self.timeZone) || !has(self.schedule) || !self.schedule.contains('TZ=')",
  message: 'the time zone is set twice: leave out timeZone, or the TZ prefix of schedule',
  holds: (spec) => spec.timeZone === undefined || spec.schedule?.includes('TZ=') !== true,
};

/** Validates times that CEL rules cannot check: the API server accepts them, and the operator reports the problem. */
export function validateSchedule(spec: Times, context: z.RefinementCtx): void {
  const read = spec.schedule === undefined ? undefined : timetableOf({ ...timesIn(spec), since: 0 });
  if (typeof read !== 'string') return;
  const path = read.includes('is not a time zone') && spec.timeZone !== undefined ? ['timeZone'] : ['schedule'];
  context.addIssue({ code: 'custom', path, message: read });
}

const timesIn = ({ schedule: times = '', timeZone: zone }: Times) => ({ schedule: times, timeZone: zone });

const never: Timetable = { next: () => undefined, latest: () => undefined };

/** The timetable of a validated schedule. */
export function timetableIn(spec: Times, since: number): Timetable {
  const timetable = timetableOf({ ...timesIn(spec), since });
  return typeof timetable === 'string' ? never : timetable;
}
