import type { OwnerReference } from '../core/desired/manifest.ts';
import type { AgentReport } from '../core/model/agent.ts';
import type { BackupIntent, BackupMemory } from '../core/model/backup.ts';
import type { BackupStatus } from '../core/status/backup-status.ts';
import type { Told } from './dialect.ts';
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

/** What alerts on a backup need. */
export interface BackupFigures {
  readonly lastSuccessAt?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly seconds?: number | undefined;
  /** How many have failed since the last good one. */
  readonly failures?: number | undefined;
}

/** One user-facing API of backups, in both directions. */
export interface BackupDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Left on objects by the original operator, and of no use to ours. */
  readonly oldFinalizer: string | undefined;
  /** Who speaks in its Events; the operator's pod where nobody is named. */
  readonly speaker?: string;
  readonly read: (raw: unknown) => Parsed<ReadBackup>;
  /** Whether it has come to its end for good, also where its spec cannot be read. */
  readonly isOver: (raw: { readonly spec?: unknown; readonly status?: unknown }) => boolean;
  readonly writeStatus: (findings: BackupFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  readonly tellStart: (pod: string) => readonly Told[];
  readonly tellEnd: (report: AgentReport) => readonly Told[];
  readonly figures: (status: unknown) => BackupFigures;
}
