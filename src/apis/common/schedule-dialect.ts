import type { OwnerReference } from '../../core/manifests/manifest.ts';
import type { ScheduledBackup, ScheduleIntent, ScheduleWorld } from '../../core/schedule/model.ts';
import type { ScheduleVerdict } from '../../core/schedule/plan.ts';
import type { Parsed } from './schema/parsed.ts';

/** A schedule resource, translated into the core's types. */
export interface ReadSchedule {
  readonly intent: ScheduleIntent;
  /** The scheduled time of the last backup, from the status. */
  readonly lastSlot: number | undefined;
  readonly owner: OwnerReference;
  /** The unmodified spec of each backup. */
  readonly backupSpec: Readonly<Record<string, unknown>>;
  /** The URL template of the objects, and its field. */
  readonly objectUrl: { readonly template: string; readonly field: string };
}

export interface ScheduleFindings {
  readonly verdict: ScheduleVerdict;
  readonly world: ScheduleWorld;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** The translator of one schedule API, in both directions. */
export interface ScheduleDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** A finalizer that the original operator left on objects. The operator removes it. */
  readonly oldFinalizer: string | undefined;
  /** The label with the schedule name on a backup. */
  readonly nameLabel: string;
  /** The reporting component of its Events. */
  readonly eventSource: string;
  readonly read: (raw: unknown) => Parsed<ReadSchedule>;
  /** The state of a backup of a schedule. */
  readonly readBackup: (raw: unknown) => Pick<ScheduledBackup, 'state' | 'slot' | 'isBlocked' | 'message'>;
  /** The annotation of a backup with its scheduled time. */
  readonly scheduledAtAnnotations: (slot: number) => Readonly<Record<string, string>>;
  /** The time of the last successful backup in the status, in milliseconds. */
  readonly lastSuccessAt: (status: unknown) => number | undefined;
  readonly writeStatus: (findings: ScheduleFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
}
