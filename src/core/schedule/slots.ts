import type { Timetable } from './timetable.ts';

/** When something is made again and again. */
export interface Times {
  readonly timetable: Timetable;
  /** How late a backup may begin; later than that it is left out. */
  readonly startingDeadlineSeconds: number | undefined;
}

/** The last time that has come, of those since the resource is there. */
export function latestSlot(now: number, createdAt: number, { timetable }: Times): number | undefined {
  const latest = timetable.latest(now);
  return latest === undefined || latest <= createdAt ? undefined : latest;
}

export const isTooLate = (slot: number, now: number, { startingDeadlineSeconds: limit }: Times): boolean =>
  limit !== undefined && now - slot > limit * 1000;
