import type { OwnerReference } from '../core/desired/manifest.ts';
import type { AgentFacts } from '../core/model/agent.ts';
import type { RestoreIntent, RestoreMemory } from '../core/model/restore.ts';
import type { RestoreVerdict } from '../core/plan/restore/plan-restore.ts';
import type { Parsed } from './parsed.ts';

/** A restore as somebody asked for it, in the core's words. */
export interface ReadRestore {
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly owner: OwnerReference;
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
  /** What the seed runs. */
  readonly version: string;
}

/** One user-facing API of restores, in both directions. */
export interface RestoreDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** On a cluster: the restore for which its operator is to stand aside. */
  readonly holdAnnotation: string;
  readonly read: (raw: unknown) => Parsed<ReadRestore>;
  /** Equal to `previous` when there is nothing new to say. */
  readonly writeStatus: (findings: RestoreFindings, previous: unknown) => object;
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** The status of a cluster, with another memory. */
  readonly rewriteMemory: (previous: unknown, memory: NewMemory) => object;
}
