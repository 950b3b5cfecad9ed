import type { BackupDialect } from '../dialects/backup-dialect.ts';
import { coreosBackups } from '../dialects/coreos-v1beta2/backup.ts';
import { improbableBackups } from '../dialects/improbable-v1alpha1/backup.ts';
import { improbableSchedules } from '../dialects/improbable-v1alpha1/schedule.ts';
import type { ScheduleDialect } from '../dialects/schedule-dialect.ts';
import type { DialectName } from './served.ts';

/** The backups of an API, and what goes with them. */
export interface BackupApi {
  readonly backups: BackupDialect;
  readonly schedules?: ScheduleDialect;
  /** The lock of those who look after them: of the coreos API, the one of an operator of its own. */
  readonly lease: string;
  /** Whether the original's operator of these had a lock of that name; otherwise the one for clusters was for all. */
  readonly hadOwnLock: boolean;
}

export const backupApis: Readonly<Record<DialectName, BackupApi>> = {
  coreos: { backups: coreosBackups, lease: 'etcd-backup-operator', hadOwnLock: true },
  improbable: {
    ...{ backups: improbableBackups, schedules: improbableSchedules },
    ...{ lease: 'etcd-backup-operator-improbable', hadOwnLock: false },
  },
};
