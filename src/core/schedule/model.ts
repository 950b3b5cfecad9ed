import type { Times } from './slots.ts';

/** The wanted state of a backup schedule. */
export interface ScheduleIntent extends Times {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly paused: boolean;
  /** How many finished EtcdBackups are kept, by result. Their stored objects stay. */
  readonly history: Readonly<Record<'succeeded' | 'failed', number>>;
}

/** An EtcdBackup that a schedule created. */
export interface ScheduledBackup {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** Its scheduled time, if recorded. */
  readonly slot: number | undefined;
  readonly state: 'active' | 'succeeded' | 'failed';
  readonly isTerminating: boolean;
  /** True if the backup cannot start: it has no pod. */
  readonly isBlocked?: boolean;
  /** True if the template of the schedule has changed since. */
  readonly isOutdated?: boolean;
  /** The message in its status. */
  readonly message?: string | undefined;
}

export interface ScheduleWorld {
  readonly now: number;
  readonly intent: ScheduleIntent;
  /** The scheduled time of the last backup that was started. */
  readonly lastSlot: number | undefined;
  readonly backups: readonly ScheduledBackup[];
}
