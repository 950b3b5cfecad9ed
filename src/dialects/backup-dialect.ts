import type { OwnerReference } from '../core/desired/manifest.ts';
import type { BackupIntent, BackupMemory } from '../core/model/backup.ts';
import type { BackupStatus } from '../core/status/backup-status.ts';
import type { Parsed } from './parsed.ts';

/** A backup as somebody asked for it, in the core's words. */
export interface ReadBackup {
  readonly intent: BackupIntent;
  readonly memory: BackupMemory;
  readonly owner: OwnerReference;
}

export interface BackupFindings {
  readonly status: BackupStatus;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** One user-facing API of backups, in both directions. */
export interface BackupDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Left on objects by the original operator, and of no use to ours. */
  readonly oldFinalizer: string;
  readonly read: (raw: unknown) => Parsed<ReadBackup>;
  readonly writeStatus: (findings: BackupFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
}
