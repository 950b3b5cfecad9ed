import { z } from 'zod';
import type { AgentFacts } from '../../core/model/agent.ts';
import { type BackupStatus, outcomeOf } from '../../core/status/backup-status.ts';
import type { BackupFigures, BackupFindings } from '../backup-dialect.ts';
import { found } from '../conditions.ts';
import { warnings, warningsIn } from '../doubts.ts';
import { progress } from '../progress.ts';
import { listBy, text } from '../rule.ts';
import { runStart, runStartTime } from '../run-start.ts';
import { conditionFields, type Said, stamped } from './conditions.ts';

export const time = text(64);

const fields = {
  phase: z.enum(['BackingUp', 'Completed', 'Failed']).describe('How far it is; the last two are its end.'),
  startTime: time.describe('When it was first looked at.'),
  runStartTime,
  completionTime: time.describe('When it came to its end.'),
  url: text(4096).describe('Where the snapshot is.'),
  revision: z.int().describe('Revision of the store when the snapshot was begun.'),
  etcdVersion: text(64).describe('Version of the etcd that it is of.'),
  sizeBytes: z.int().describe('How large it is in the store.'),
  durationSeconds: text(32).describe('How long it took.'),
  verified: z
    .boolean()
    .describe("Whether it is whole: etcd's own hash was checked, and that the store holds the same bytes."),
  warnings,
  progress,
  message: text(32_768).describe('What is being waited for, or why it failed.'),
  conditions: listBy(
    'type',
    conditionFields('Progressing: it is under way or held up. Succeeded: how it ended.'),
    32,
  ).describe('What is true of the backup now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

export const etcdBackupStatus = z.object(fields).partial();
export type EtcdBackupStatus = z.output<typeof etcdBackupStatus>;
export const foundBackupStatus: z.ZodType<EtcdBackupStatus> = found(fields);

export const timeOf = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');

/** What was found, in the phases of the original and in words of our own. */
export function writeBackupStatus({ status, generation, now }: BackupFindings, previous: unknown): EtcdBackupStatus {
  const before = foundBackupStatus.parse(previous ?? {});
  const { message: _gone, completionTime: _over, progress: _done, runStartTime: _begun, ...kept } = before;
  return {
    ...kept,
    startTime: before.startTime ?? timeOf(now.getTime()),
    ...runStart(status, before, now),
    ...howFar(status, now),
    ...(status.progress === undefined ? {} : { progress: status.progress }),
    conditions: stamped(conditionsOf(status), before.conditions ?? [], now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function howFar({ run, message, isProgressing }: BackupStatus, now: Date): Partial<EtcdBackupStatus> {
  if (run === undefined) return { phase: 'BackingUp', ...(isProgressing ? { message } : {}) };
  const completionTime = timeOf(now.getTime());
  if (!run.ok) return { phase: 'Failed', completionTime, message: run.message };
  return { phase: 'Completed', completionTime, ...factsOf(run.facts) };
}

const factsOf = ({ url, revision, version, size, seconds, ...more }: AgentFacts): Partial<EtcdBackupStatus> =>
  Object.fromEntries(
    Object.entries({
      ...{ url, sizeBytes: size, etcdVersion: version, durationSeconds: seconds?.toString() },
      revision: revision === undefined ? undefined : Number(revision),
      verified: true,
      warnings: warningsIn(more),
    }).filter(([, value]) => value !== undefined),
  );

function conditionsOf({ isProgressing, reason, message, run }: BackupStatus): readonly Said[] {
  const progressing: Said = { type: 'Progressing', status: isProgressing ? 'True' : 'False', reason, message };
  if (run === undefined) return [progressing];
  const succeeded: Said = {
    ...{ type: 'Succeeded', status: run.ok ? 'True' : 'False' },
    ...{ reason: outcomeOf(run), message: run.message },
  };
  return [progressing, succeeded];
}

/** A spec that makes no sense has failed, until it is corrected. */
export function writeBackupProblems(problems: string, previous: unknown, now: Date): EtcdBackupStatus {
  const before = foundBackupStatus.parse(previous ?? {});
  const said: readonly Said[] = [
    { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems },
    { type: 'Succeeded', status: 'False', reason: 'BadSpec', message: problems },
  ];
  return { ...before, phase: 'Failed', message: problems, conditions: stamped(said, before.conditions ?? [], now) };
}

/** Whether it has come to its end. One that could not be read begins anew when it can. */
export const isOver = ({ phase, conditions = [] }: EtcdBackupStatus): boolean =>
  (phase === 'Completed' || phase === 'Failed') && !conditions.some(({ reason }) => reason === 'BadSpec');

export function figuresOf(status: unknown): BackupFigures {
  const { phase, startTime, sizeBytes, durationSeconds } = foundBackupStatus.parse(status ?? {});
  if (phase === 'Failed') return { failures: 1 };
  if (phase !== 'Completed') return {};
  return {
    lastSuccessAt: startTime === undefined ? undefined : Date.parse(startTime),
    sizeBytes,
    seconds: durationSeconds === undefined ? undefined : Number(durationSeconds),
    failures: 0,
  };
}
