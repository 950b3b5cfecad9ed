import { z } from 'zod';
import type { AgentFacts } from '../../../core/backup/agent.ts';
import type { Reason } from '../../../core/reasons.ts';
import type { RestorePhase } from '../../../core/restore/model.ts';
import type { RestoreVerdict } from '../../../core/restore/step.ts';
import type { RestoreFindings } from '../restore-dialect.ts';
import { listBy, text } from '../schema/rule.ts';
import { type Condition, mergeConditions, type NewCondition } from './conditions.ts';
import { reportedProgress, restoreProgress } from './progress.ts';

const time = text(64);

const condition = z.object({
  type: text(316).describe('type is Progressing (running or blocked) or Succeeded (the result).'),
  status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
  reason: text(1024).optional().describe('reason is the cause in one word.'),
  message: text(32_768).optional().describe('message is the cause in one sentence.'),
  lastUpdateTime: time.optional().describe('lastUpdateTime is when any field of the condition last changed.'),
  lastTransitionTime: time.optional().describe('lastTransitionTime is when status last changed.'),
});

/** The status fields of a restore that both APIs have. */
export const restoreFields = {
  phaseSince: time.describe('phaseSince is when the current phase started.'),
  seedMember: text(253).describe('seedMember is the first member of the restored cluster.'),
  clusterId: text(16).describe('clusterId is the etcd cluster ID of the restored cluster, in hexadecimal.'),
  backup: z
    .object({
      takenAt: time.optional().describe('takenAt is when the backup was taken.'),
      etcdVersion: text(64).optional().describe('etcdVersion is the version of the etcd that was backed up.'),
      etcdRevision: z.int().optional().describe('etcdRevision is the revision of the snapshot.'),
      sizeBytes: z.int().optional().describe('sizeBytes is the size of the backup in the store.'),
      warnings: z.array(text(1024)).max(16).optional().describe('warnings are problems of the backup.'),
    })
    .describe('backup describes the backup, once it was read.'),
  progress: restoreProgress,
  conditions: listBy('type', condition, 32).describe('conditions are the current conditions of the restore.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

/**
 * Fields of a stored status with stricter rules. A seed member with an invalid name cannot exist; to look for it would
 * fail in every pass.
 */
export const storedRestoreFields = {
  seedMember: text(253).regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
} as const;

const common = z.object(restoreFields).partial();
type CommonStatus = z.output<typeof common>;

/** The common status fields for a verdict. */
export const commonStatus = (
  { verdict, facts, generation, now }: RestoreFindings & { readonly verdict: ReportedVerdict },
  { conditions = [], phaseSince, progress }: CommonStatus,
): CommonStatus => ({
  ...entered(verdict, now, phaseSince),
  ...reportedProgress(verdict.is === 'wait' ? verdict.progress : undefined, progress),
  ...backupOf(facts),
  conditions: mergeConditions(conditionsOf(verdict, conditions), conditions, now),
  ...(generation === undefined ? {} : { observedGeneration: generation }),
});

/** A verdict that changes the status. */
export type ReportedVerdict = Exclude<RestoreVerdict, { is: 'over' }>;

/**
 * The first phase starts with the agent that checks the backup. Before that the restore may have been blocked for long.
 */
function entered(verdict: ReportedVerdict, now: Date, before: string | undefined): CommonStatus {
  const phaseSince = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const isFirstLook = verdict.is === 'act' && verdict.step.kind === 'prove' && before === undefined;
  if (verdict.is !== 'enter') return isFirstLook ? { phaseSince } : {};
  const { seed, clusterId } = verdict;
  return {
    phaseSince,
    ...(seed === undefined ? {} : { seedMember: seed }),
    ...(clusterId === undefined ? {} : { clusterId }),
  };
}

/** Why the restore failed or is blocked; empty after success. */
export function reasonOf(verdict: ReportedVerdict): string | undefined {
  if (verdict.is === 'enter' && verdict.phase === 'failed') return verdict.message;
  if (verdict.is === 'enter' && verdict.phase === 'complete') return '';
  return verdict.is === 'wait' && verdict.isBlocked === true ? verdict.message : undefined;
}

function backupOf({ takenAt, version, revision, size, warnings }: AgentFacts): CommonStatus {
  const known = {
    takenAt,
    etcdVersion: version,
    etcdRevision: revision === undefined ? undefined : Number(revision),
    sizeBytes: size,
    warnings: warnings?.slice(0, 16).map((warning) => warning.slice(0, 1024)),
  };
  const backup = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return Object.keys(backup).length === 0 ? {} : { backup };
}

function conditionsOf(verdict: ReportedVerdict, before: readonly Condition[]): readonly NewCondition[] {
  const end = endOf(verdict);
  const { message } = verdict;
  if (end === undefined) {
    const isBlocked = verdict.is === 'wait' && verdict.isBlocked === true;
    const reason: Reason = isBlocked ? 'RestoreBlocked' : 'Restoring';
    const isOver = before.some(({ type }) => type === 'Succeeded'); // only cleanup is left
    return isOver ? before : [{ type: 'Progressing', status: 'True', reason, message }];
  }
  return [
    { type: 'Progressing', status: 'False', reason: end, message },
    { type: 'Succeeded', status: end === 'Restored' ? 'True' : 'False', reason: end, message },
  ];
}

function endOf(verdict: ReportedVerdict): Reason | undefined {
  if (verdict.is !== 'enter') return undefined;
  if (verdict.phase === 'failed') return 'RestoreFailed';
  return verdict.phase === 'complete' ? 'Restored' : undefined;
}

/** The status of a restore with an invalid spec: only the problems. */
export const badSpec = (problems: string, { conditions = [] }: CommonStatus, now: Date): CommonStatus => ({
  conditions: mergeConditions(
    [{ type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems }],
    conditions,
    now,
  ),
});

/** The phases as shown to users. */
export const stages = ['Proving', 'Seeding', 'Switching', 'Growing', 'Complete', 'Failed'] as const;
export type RestoreStage = (typeof stages)[number];

export const stageDescription =
  'Proving (the backup is checked), Seeding (the first member starts from it), Switching (that member replaces the old ' +
  'members), Growing (the cluster grows to its full size), Complete or Failed.';

export const phaseOfStage = (stage: RestoreStage | undefined): RestorePhase =>
  (stage?.toLowerCase() as RestorePhase | undefined) ?? 'proving';
export const stageOf = (phase: RestorePhase): RestoreStage =>
  stages.find((stage) => stage.toLowerCase() === phase) ?? 'Proving';
