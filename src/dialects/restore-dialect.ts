import type { OwnerReference } from '../core/desired/manifest.ts';
import type { AgentFacts } from '../core/model/agent.ts';
import type { RestoreIntent, RestoreMemory } from '../core/model/restore.ts';
import type { RestoreVerdict } from '../core/plan/restore/step.ts';
import type { Parsed } from './parsed.ts';

/** A restore as somebody asked for it, in the core's words. */
export interface ReadRestore {
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly owner: OwnerReference;
  /** The cluster that is to be made: as somebody wrote it, or as it was when it was saved. */
  readonly template?: ClusterTemplate | 'in-backup' | undefined;
}

export interface ClusterTemplate {
  readonly spec: unknown;
}

export interface RestoreFindings {
  readonly verdict: RestoreVerdict;
  /** What is known of the snapshot, once it was read. */
  readonly facts: AgentFacts;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** What a cluster is to remember when another has taken its place. */
export interface NewMemory {
  readonly seed: string;
  readonly token: string;
  readonly clusterId: string;
  /** What etcd calls the seed; not known if it did not answer just then. */
  readonly memberId: string | undefined;
  /** What the seed runs. */
  readonly version: string;
}

export interface Counts {
  readonly ready: number | undefined;
  readonly size: number | undefined;
}

/** One user-facing API of restores, in both directions. */
export interface RestoreDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** On a cluster: the restore for which its operator is to stand aside. */
  readonly holdAnnotation: string;
  /** On what was made for a restore: the restore, by its name. */
  readonly restoredFromLabel?: string;
  readonly read: (raw: unknown) => Parsed<ReadRestore>;
  /** What to do where a cluster was to be made as it was, and nothing tells what it was. */
  readonly describedByHand: (cluster: string) => string;
  /** Equal to `previous` when there is nothing new to say. */
  readonly writeStatus: (findings: RestoreFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** How many members a cluster has, and how many of them serve, as its status says. */
  readonly countsIn: (status: object) => Counts;
  /** The status of a cluster, with another memory. */
  readonly rewriteMemory: (previous: unknown, memory: NewMemory) => object;
}
