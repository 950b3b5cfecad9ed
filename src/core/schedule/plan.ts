import type { ScheduledBackup, ScheduleWorld } from './model.ts';
import { isTooLate, latestSlot } from './slots.ts';

export type ScheduleVerdict =
  | { readonly is: 'start'; readonly slot: number }
  /** Deletes finished EtcdBackups beyond the history limits. */
  | { readonly is: 'forget'; readonly backups: readonly ScheduledBackup[] }
  /** A backup is still running. The next backup starts after it. */
  | { readonly is: 'wait'; readonly for: 'backup'; readonly name: string }
  | {
      readonly is: 'wait';
      readonly for: 'time';
      readonly until: number | undefined;
      readonly missed: number | undefined;
    }
  /** Deletes a backup that cannot start, in favour of the current template or the next backup. */
  | { readonly is: 'replace'; readonly backup: ScheduledBackup }
  /** The API server refuses to create the EtcdBackup. */
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'paused' };

/** The next action for a schedule. */
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

/** A new backup is not replaced before this time. This prevents a loop with other writers of EtcdBackups. */
const momentMillis = 10_000;

function isInTheWay(active: ScheduledBackup, due: number | undefined, { now }: ScheduleWorld): boolean {
  if (active.isBlocked !== true || active.isTerminating) return false;
  return due !== undefined || (active.isOutdated === true && now - active.createdAt > momentMillis);
}

/**
 * The scheduled time of the last backup that was started, from the status and from existing EtcdBackups. Times in the
 * future come from a wrong clock and are ignored.
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

/** The last scheduled time without a backup. Of several missed times only the last is made up for. */
function unmadeSlot({ now, intent, lastSlot }: ScheduleWorld): number | undefined {
  const latest = latestSlot(now, intent.createdAt, intent);
  return latest !== undefined && lastSlot !== undefined && latest <= lastSlot ? undefined : latest;
}

/** After a clock was set back, finished runs are not repeated. */
const nextSlot = ({ now, intent, lastSlot }: ScheduleWorld): number | undefined =>
  intent.timetable.next(Math.max(now, lastSlot ?? 0, intent.createdAt));

function beyondHistory({ intent: { history }, backups }: ScheduleWorld): readonly ScheduledBackup[] {
  const newestFirst = backups.toSorted((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1));
  const those = (state: 'succeeded' | 'failed') => newestFirst.filter((backup) => backup.state === state);
  return (['succeeded', 'failed'] as const)
    .flatMap((state) => those(state).slice(history[state]))
    .filter(({ isTerminating }) => !isTerminating);
}
