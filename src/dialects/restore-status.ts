import { z } from 'zod';
import type { AgentFacts } from '../core/model/agent.ts';
import type { RestorePhase } from '../core/model/restore.ts';
import type { RestoreVerdict } from '../core/plan/restore/step.ts';
import type { Reason } from '../core/reasons.ts';
import { type Condition, merged, type Said } from './conditions.ts';
import { readProgress, toldProgress } from './progress.ts';
import type { RestoreFindings } from './restore-dialect.ts';
import { listBy, text } from './rule.ts';

const time = text(64);

const condition = z.object({
  type: text(316).describe('Progressing: it is under way or held up. Succeeded: how it ended.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: text(1024).optional().describe('Why, in a word.'),
  message: text(32_768).optional().describe('Why, in a sentence.'),
  lastUpdateTime: time.optional().describe('When anything in this condition last changed.'),
  lastTransitionTime: time.optional().describe('When status last changed.'),
});

/** What every API says of a restore. */
export const restoreFields = {
  phaseSince: time.describe('When this phase began.'),
  seedMember: text(253).describe('First member of the restored cluster.'),
  clusterId: text(16).describe("etcd's number for the restored cluster, in hexadecimal."),
  backup: z
    .object({
      takenAt: time.optional().describe('When it was taken.'),
      etcdVersion: text(64).optional().describe('Version of the etcd it is of.'),
      etcdRevision: z.int().optional().describe('Revision of the store when it was begun.'),
      sizeBytes: z.int().optional().describe('How large it is where it is kept.'),
      warnings: z.array(text(1024)).max(16).optional().describe('What is doubtful about it.'),
    })
    .describe('What is known of the backup.'),
  progress: readProgress,
  conditions: listBy('type', condition, 32).describe('What is true of the restore now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

const common = z.object(restoreFields).partial();
type CommonStatus = z.output<typeof common>;

/** What is common to all, of a verdict that is worth telling. */
export const commonStatus = (
  { verdict, facts, generation, now }: RestoreFindings & { readonly verdict: Telling },
  { conditions = [], phaseSince, progress }: CommonStatus,
): CommonStatus => ({
  ...entered(verdict, now, phaseSince),
  ...toldProgress(verdict.is === 'wait' ? verdict.progress : undefined, progress),
  ...backupOf(facts),
  conditions: merged(conditionsOf(verdict, conditions), conditions, now),
  ...(generation === undefined ? {} : { observedGeneration: generation }),
});

export type Telling = Exclude<RestoreVerdict, { is: 'over' }>;

/** The first phase begins when somebody is sent to look at the backup: before that, it may have been held up for long. */
function entered(verdict: Telling, now: Date, before: string | undefined): CommonStatus {
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

/** Why it failed or is held up; empty when it is over and well. */
export function reasonOf(verdict: Telling): string | undefined {
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

function conditionsOf(verdict: Telling, before: readonly Condition[]): readonly Said[] {
  const end = endOf(verdict);
  const { message } = verdict;
  if (end === undefined) {
    const isBlocked = verdict.is === 'wait' && verdict.isBlocked === true;
    const reason: Reason = isBlocked ? 'RestoreBlocked' : 'Restoring';
    const isOver = before.some(({ type }) => type === 'Succeeded'); // only tidying up is left
    return isOver ? before : [{ type: 'Progressing', status: 'True', reason, message }];
  }
  return [
    { type: 'Progressing', status: 'False', reason: end, message },
    { type: 'Succeeded', status: end === 'Restored' ? 'True' : 'False', reason: end, message },
  ];
}

function endOf(verdict: Telling): Reason | undefined {
  if (verdict.is !== 'enter') return undefined;
  if (verdict.phase === 'failed') return 'RestoreFailed';
  return verdict.phase === 'complete' ? 'Restored' : undefined;
}

/** Of an object that cannot be read we only say what is wrong with it. */
export const badSpec = (problems: string, { conditions = [] }: CommonStatus, now: Date): CommonStatus => ({
  conditions: merged([{ type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems }], conditions, now),
});

/** What is being done, as people read it. */
export const stages = ['Proving', 'Seeding', 'Switching', 'Growing', 'Complete', 'Failed'] as const;
export type Stage = (typeof stages)[number];

export const saysOfStages =
  'Proving: the backup is looked at. Seeding: it is read to its end, and a member starts from it. Switching: that takes the ' +
  'place of the old members. Growing: the cluster grows to its full size. Complete, or Failed.';

export const phaseOfStage = (stage: Stage | undefined): RestorePhase =>
  (stage?.toLowerCase() as RestorePhase | undefined) ?? 'proving';
export const stageOf = (phase: RestorePhase): Stage =>
  stages.find((stage) => stage.toLowerCase() === phase) ?? 'Proving';
