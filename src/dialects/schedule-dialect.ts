import type { OwnerReference } from '../core/desired/manifest.ts';
import type { ScheduledBackup, ScheduleIntent, ScheduleWorld } from '../core/model/schedule.ts';
import type { ScheduleVerdict } from '../core/plan/schedule/plan-schedule.ts';
import type { Parsed } from './parsed.ts';

/** A schedule as somebody asked for it, in the core's words. */
export interface ReadSchedule {
  readonly intent: ScheduleIntent;
  /** The time for which the last backup was begun, as the status says. */
  readonly lastSlot: number | undefined;
  readonly owner: OwnerReference;
  /** The spec of each backup, as it was written. */
  readonly backupSpec: Readonly<Record<string, unknown>>;
  /** Where the objects go, and the field that says so. */
  readonly objectUrl: { readonly template: string; readonly field: string };
}

export interface ScheduleFindings {
  readonly verdict: ScheduleVerdict;
  readonly world: ScheduleWorld;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** One user-facing API of schedules, in both directions. */
export interface ScheduleDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Left on objects by the original operator, and of no use to ours. */
  readonly oldFinalizer: string | undefined;
  /** On a backup: the name of the schedule that it was made by. */
  readonly nameLabel: string;
  /** Who speaks in its Events. */
  readonly speaker: string;
  readonly read: (raw: unknown) => Parsed<ReadSchedule>;
  /** How a backup of a schedule is. */
  readonly readBackup: (raw: unknown) => Pick<ScheduledBackup, 'state' | 'slot' | 'isBlocked' | 'message'>;
  /** What a backup says of the time that it was made for. */
  readonly slotMark: (slot: number) => Readonly<Record<string, string>>;
  /** When the last good backup was made, in milliseconds, as the status says. */
  readonly lastSuccessAt: (status: unknown) => number | undefined;
  readonly writeStatus: (findings: ScheduleFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
}
