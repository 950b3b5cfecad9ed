import type { BackupDialect } from '../../apis/common/backup-dialect.ts';
import type { ScheduleDialect } from '../../apis/common/schedule-dialect.ts';
import { coreosBackups } from '../../apis/coreos-v1beta2/backup.ts';
import { improbableBackups } from '../../apis/improbable-v1alpha1/backup/backup.ts';
import { improbableSchedules } from '../../apis/improbable-v1alpha1/backup/schedule.ts';
import type { DialectName } from './served.ts';

/** The backup kinds of an API, and their Lease. */
export interface BackupApi {
  readonly backups: BackupDialect;
  readonly schedules?: ScheduleDialect;
  /** The Lease of the backup controllers. The coreos API uses the name of the original backup operator. */
  readonly lease: string;
  /** True if the original had a separate lock of that name for backups. */
  readonly hadOwnLock: boolean;
}

export const backupApis: Readonly<Record<DialectName, BackupApi>> = {
  coreos: { backups: coreosBackups, lease: 'etcd-backup-operator', hadOwnLock: true },
  improbable: {
    backups: improbableBackups,
    schedules: improbableSchedules,
    lease: 'etcd-backup-operator-improbable',
    hadOwnLock: false,
  },
};
