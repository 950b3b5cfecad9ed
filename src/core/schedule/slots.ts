import type { Timetable } from './timetable.ts';

/** The schedule and the starting deadline of repeated backups. */
export interface Times {
  readonly timetable: Timetable;
  /** How late a backup may start. A later backup is skipped. */
  readonly startingDeadlineSeconds: number | undefined;
}

/** The last scheduled time that has passed since the resource was created. */
export function latestSlot(now: number, createdAt: number, { timetable }: Times): number | undefined {
  const latest = timetable.latest(now);
  return latest === undefined || latest <= createdAt ? undefined : latest;
}

export const isTooLate = (slot: number, now: number, { startingDeadlineSeconds: limit }: Times): boolean =>
  limit !== undefined && now - slot > limit * 1000;
