import type { AgentReport } from '../../core/backup/agent.ts';
import type { BackupIntent, BackupMemory } from '../../core/backup/model.ts';
import type { BackupStatus } from '../../core/backup/status.ts';
import type { OwnerReference } from '../../core/manifests/manifest.ts';
import type { EventContent } from './dialect.ts';
import type { Parsed } from './schema/parsed.ts';

/** A backup resource, translated into the core's types. */
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

/** The figures that metrics of a backup are made of. */
export interface BackupFigures {
  readonly lastSuccessAt?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly seconds?: number | undefined;
  /** The number of failed backups since the last successful one. */
  readonly failures?: number | undefined;
}

/** The translator of one backup API, in both directions. */
export interface BackupDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** A finalizer that the original operator left on objects. The operator removes it. */
  readonly oldFinalizer: string | undefined;
  /** The reporting component of its Events; by default the operator's pod. */
  readonly eventSource?: string;
  readonly read: (raw: unknown) => Parsed<ReadBackup>;
  /** True if the backup has ended and never runs again, even if its spec is invalid. */
  readonly isOver: (raw: { readonly spec?: unknown; readonly status?: unknown }) => boolean;
  readonly writeStatus: (findings: BackupFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  readonly eventsOfStart: (pod: string) => readonly EventContent[];
  readonly eventsOfEnd: (report: AgentReport) => readonly EventContent[];
  readonly figures: (status: unknown) => BackupFigures;
}
