import type { AgentFacts } from '../../core/backup/agent.ts';
import type { OwnerReference } from '../../core/manifests/manifest.ts';
import type { RestoreIntent, RestoreMemory } from '../../core/restore/model.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import type { Parsed } from './schema/parsed.ts';

/** A restore resource, translated into the core's types. */
export interface ReadRestore {
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly owner: OwnerReference;
  /** The spec of the cluster to create: from the restore, or as saved in the backup. */
  readonly template?: ClusterTemplate | 'in-backup' | undefined;
}

export interface ClusterTemplate {
  readonly spec: unknown;
}

export interface RestoreFindings {
  readonly verdict: RestoreVerdict;
  /** Facts about the snapshot, once it was read. */
  readonly facts: AgentFacts;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** The memory that a cluster gets when a restore replaces its members. */
export interface NewMemory {
  readonly seed: string;
  readonly token: string;
  readonly clusterId: string;
  /** The member ID of the seed; unknown if etcd did not answer. */
  readonly memberId: string | undefined;
  /** The etcd version of the seed. */
  readonly version: string;
}

export interface Counts {
  readonly ready: number | undefined;
  readonly size: number | undefined;
}

/** The translator of one restore API, in both directions. */
export interface RestoreDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** The annotation on a cluster with the UID of the restore that pauses it. */
  readonly holdAnnotation: string;
  /** The label with the restore name on objects that the restore created. */
  readonly restoredFromLabel?: string;
  readonly read: (raw: unknown) => Parsed<ReadRestore>;
  /** The advice for a backup without a saved cluster spec. */
  readonly manualRestoreHint: (cluster: string) => string;
  /** The status to publish; equal to `previous` if nothing has changed. */
  readonly writeStatus: (findings: RestoreFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** The numbers of members and of ready members in the status of a cluster. */
  readonly countsIn: (status: object) => Counts;
  /** Replaces the memory in the status of a cluster. */
  readonly rewriteMemory: (previous: unknown, memory: NewMemory) => object;
}
