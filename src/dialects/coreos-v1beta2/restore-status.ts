import { z } from 'zod';
import type { RestorePhase } from '../../core/model/restore.ts';
import type { RestoreVerdict } from '../../core/plan/restore/plan-restore.ts';
import type { Reason } from '../../core/reasons.ts';
import type { RestoreFindings } from '../restore-dialect.ts';
import { listBy, text } from '../rule.ts';
import { found, merged, type Said } from './conditions.ts';

const time = text(64);

const condition = z.object({
  type: text(316).describe('Progressing: it is under way or held up. Succeeded: how it ended.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: text(1024).optional().describe('Why, in a word.'),
  message: text(32_768).optional().describe('Why, in a sentence.'),
  lastUpdateTime: time.optional().describe('When anything in this condition last changed.'),
  lastTransitionTime: time.optional().describe('When status last changed.'),
});

const phases = ['Proving', 'Seeding', 'Switching', 'Growing', 'Complete', 'Failed'] as const;
export type PhaseWritten = (typeof phases)[number];

const fields = {
  succeeded: z.boolean().describe('Whether the cluster serves what was restored, at its full size.'),
  reason: text(32_768).describe('Why it failed, or what holds it up.'),
  phase: z
    .enum(phases)
    .describe(
      'Proving: the backup is read to its end. Seeding: a member starts from it. Switching: it takes the place of the ' +
        'old members. Growing: the cluster grows to its full size. Complete, or Failed.',
    ),
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
  conditions: listBy('type', condition, 32).describe('What is true of the restore now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

export const etcdRestoreStatus = z.object(fields).partial();
export type EtcdRestoreStatus = z.output<typeof etcdRestoreStatus>;
export const foundRestoreStatus: z.ZodType<EtcdRestoreStatus> = found(fields);

export const phaseIn = (written: PhaseWritten | undefined): RestorePhase =>
  (written?.toLowerCase() as RestorePhase | undefined) ?? 'proving';
const phaseOut = (phase: RestorePhase): PhaseWritten =>
  phases.find((written) => written.toLowerCase() === phase) ?? 'Proving';

/** What was found, in the words of the original and in some of our own. */
export function writeRestoreStatus(findings: RestoreFindings, previous: unknown): EtcdRestoreStatus {
  const before = foundRestoreStatus.parse(previous ?? {});
  const { verdict, generation, now } = findings;
  if (verdict.is === 'over') return before;
  return {
    phase: 'Proving',
    ...before,
    ...entered(verdict, now),
    ...reasonFor(verdict),
    ...backupOf(findings),
    conditions: merged(conditionsOf(verdict, before), before.conditions ?? [], now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function entered(verdict: RestoreVerdict, now: Date): Partial<EtcdRestoreStatus> {
  if (verdict.is !== 'enter') return {};
  const { phase, seed, clusterId } = verdict;
  return {
    phase: phaseOut(phase),
    phaseSince: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    ...(seed === undefined ? {} : { seedMember: seed }),
    ...(clusterId === undefined ? {} : { clusterId }),
  };
}

function reasonFor(verdict: RestoreVerdict): Partial<EtcdRestoreStatus> {
  if (verdict.is === 'enter' && verdict.phase === 'failed') return { succeeded: false, reason: verdict.message };
  if (verdict.is === 'enter' && verdict.phase === 'complete') return { succeeded: true, reason: '' };
  return verdict.is === 'wait' && verdict.isBlocked === true ? { succeeded: false, reason: verdict.message } : {};
}

function backupOf({ facts }: RestoreFindings): Partial<EtcdRestoreStatus> {
  const { takenAt, version, revision, size, warnings } = facts;
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

function conditionsOf(verdict: Exclude<RestoreVerdict, { is: 'over' }>, before: EtcdRestoreStatus): readonly Said[] {
  const end = endOf(verdict);
  const { message } = verdict;
  const last = (before.conditions ?? []).filter(({ type }) => type === 'Succeeded');
  if (end === undefined) {
    const isBlocked = verdict.is === 'wait' && verdict.isBlocked === true;
    const reason: Reason = isBlocked ? 'RestoreBlocked' : 'Restoring';
    const isOver = last.length > 0; // only tidying up is left
    return isOver ? (before.conditions ?? []) : [{ type: 'Progressing', status: 'True', reason, message }];
  }
  return [
    { type: 'Progressing', status: 'False', reason: end, message },
    { type: 'Succeeded', status: end === 'Restored' ? 'True' : 'False', reason: end, message },
  ];
}

function endOf(verdict: RestoreVerdict): Reason | undefined {
  if (verdict.is !== 'enter') return undefined;
  if (verdict.phase === 'failed') return 'RestoreFailed';
  return verdict.phase === 'complete' ? 'Restored' : undefined;
}

/** Of an object that cannot be read we only say what is wrong with it. */
export function writeRestoreProblems(problems: string, previous: unknown, now: Date): EtcdRestoreStatus {
  const before = foundRestoreStatus.parse(previous ?? {});
  const said: Said = { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems };
  return { ...before, succeeded: false, reason: problems, conditions: merged([said], before.conditions ?? [], now) };
}
