import type { Times } from '../schedule/slots.ts';

/** What is asked of a schedule of backups. */
export interface ScheduleIntent extends Times {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly paused: boolean;
  /** How many resources of backups that are over are kept, by how they ended. What they have stored stays. */
  readonly history: Readonly<Record<'succeeded' | 'failed', number>>;
}

/** A resource of a backup that a schedule has made. */
export interface ScheduledBackup {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** The time it was made for, where it says so. */
  readonly slot: number | undefined;
  readonly state: 'active' | 'succeeded' | 'failed';
  readonly isGoing: boolean;
  /** Whether it cannot begin: no pod of it is there. */
  readonly isBlocked?: boolean;
  /** Whether the schedule asks for another one by now. */
  readonly isOutdated?: boolean;
  /** What it says of itself. */
  readonly message?: string | undefined;
}

export interface ScheduleWorld {
  readonly now: number;
  readonly intent: ScheduleIntent;
  /** The time for which the last backup was begun. */
  readonly lastSlot: number | undefined;
  readonly backups: readonly ScheduledBackup[];
}
