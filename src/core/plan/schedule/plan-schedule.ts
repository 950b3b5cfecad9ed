import type { ScheduledBackup, ScheduleWorld } from '../../model/schedule.ts';
import { isTooLate, latestSlot } from '../../schedule/slots.ts';

export type ScheduleVerdict =
  | { readonly is: 'start'; readonly slot: number }
  /** There are more resources of backups that are over than are to be kept. */
  | { readonly is: 'forget'; readonly backups: readonly ScheduledBackup[] }
  /** One backup is still being made: the next begins when it is over. */
  | { readonly is: 'wait'; readonly for: 'backup'; readonly name: string }
  | {
      readonly is: 'wait';
      readonly for: 'time';
      readonly until: number | undefined;
      readonly missed: number | undefined;
    }
  /** One that cannot begin makes room: for one as the schedule asks for by now, or for the next. */
  | { readonly is: 'replace'; readonly backup: ScheduledBackup }
  /** The API server does not let us create one. */
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'paused' };

/** What to do next for a schedule. */
export function planSchedule(world: ScheduleWorld): ScheduleVerdict {
  const over = beyondHistory(world);
  if (over.length > 0) return { is: 'forget', backups: over };
  return world.intent.paused ? { is: 'paused' } : next(world);
}

function next(world: ScheduleWorld): ScheduleVerdict {
  const unmade = unmadeSlot(world);
  const missed = unmade !== undefined && isTooLate(unmade, world.now, world.intent) ? unmade : undefined;
  const slot = missed === undefined ? unmade : undefined;
  const active = world.backups.find(({ state }) => state === 'active');
  if (active !== undefined && isInTheWay(active, slot, world)) return { is: 'replace', backup: active };
  if (slot === undefined) return { is: 'wait', for: 'time', until: nextSlot(world), missed };
  return active === undefined ? { is: 'start', slot } : { is: 'wait', for: 'backup', name: active.name };
}

/** One that was just made is given a moment, so that whoever else changes backups cannot drive us in circles. */
const momentMillis = 10_000;

function isInTheWay(active: ScheduledBackup, due: number | undefined, { now }: ScheduleWorld): boolean {
  if (active.isBlocked !== true || active.isGoing) return false;
  return due !== undefined || (active.isOutdated === true && now - active.createdAt > momentMillis);
}

/**
 * The time for which the last backup was begun, by what was written down and by those that were made. What lies ahead was
 * told by a clock that was wrong, and must not keep us silent until then.
 */
export function lastBegun(
  now: number,
  written: number | undefined,
  made: readonly (number | undefined)[],
): number | undefined {
  const slots = [
    ...(written === undefined ? [] : [Math.min(written, now)]),
    ...made.filter((slot) => slot !== undefined && slot <= now),
  ].filter((slot) => slot !== undefined);
  return slots.length === 0 ? undefined : Math.max(...slots);
}

/** The last time that has come and for which no backup was begun. Of those that went by unseen, only the last is made up for. */
function unmadeSlot({ now, intent, lastSlot }: ScheduleWorld): number | undefined {
  const latest = latestSlot(now, intent.createdAt, intent);
  return latest !== undefined && lastSlot !== undefined && latest <= lastSlot ? undefined : latest;
}

/** When the clock was put back, what has been done already is not done again. */
const nextSlot = ({ now, intent, lastSlot }: ScheduleWorld): number | undefined =>
  intent.timetable.next(Math.max(now, lastSlot ?? 0, intent.createdAt));

function beyondHistory({ intent: { history }, backups }: ScheduleWorld): readonly ScheduledBackup[] {
  const newestFirst = backups.toSorted((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1));
  const those = (state: 'succeeded' | 'failed') => newestFirst.filter((backup) => backup.state === state);
  return (['succeeded', 'failed'] as const)
    .flatMap((state) => those(state).slice(history[state]))
    .filter(({ isGoing }) => !isGoing);
}
