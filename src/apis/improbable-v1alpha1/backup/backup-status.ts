import { z } from 'zod';
import type { AgentFacts } from '../../../core/backup/agent.ts';
import { type BackupStatus, outcomeOf } from '../../../core/backup/status.ts';
import type { BackupFigures, BackupFindings } from '../../common/backup-dialect.ts';
import { warnings, warningsIn } from '../../common/backup-warnings.ts';
import { listBy, text } from '../../common/schema/rule.ts';
import { lenient } from '../../common/status/conditions.ts';
import { progress } from '../../common/status/progress.ts';
import { runStart, runStartTime } from '../../common/status/run-start.ts';
import { conditionFields, type UntimedCondition, withTransitionTimes } from '../conditions.ts';

export const time = text(64);

const fields = {
  phase: z
    .enum(['BackingUp', 'Completed', 'Failed'])
    .describe('phase is BackingUp, Completed or Failed. Completed and Failed are final.'),
  startTime: time.describe('startTime is when the operator first saw the backup.'),
  runStartTime,
  completionTime: time.describe('completionTime is when the backup ended.'),
  url: text(4096).describe('url is the URL of the snapshot.'),
  revision: z.int().describe('revision is the revision of the snapshot.'),
  etcdVersion: text(64).describe('etcdVersion is the version of the etcd that was backed up.'),
  sizeBytes: z.int().describe('sizeBytes is the size of the snapshot in the store.'),
  durationSeconds: text(32).describe('durationSeconds is how long the backup took.'),
  verified: z
    .boolean()
    .describe("verified is true if etcd's hash of the snapshot and the checksum of the stored object were checked."),
  warnings,
  progress,
  message: text(32_768).describe('message is what the backup waits for, or why it failed.'),
  conditions: listBy(
    'type',
    conditionFields('type is Progressing (running or blocked) or Succeeded (the result).'),
    32,
  ).describe('conditions are the current conditions of the backup.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

export const etcdBackupStatus = z.object(fields).partial();
export type EtcdBackupStatus = z.output<typeof etcdBackupStatus>;
export const storedBackupStatus: z.ZodType<EtcdBackupStatus> = lenient(fields);

export const timestampOf = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');

/** The status: the original's phases and our own fields. */
export function writeBackupStatus({ status, generation, now }: BackupFindings, previous: unknown): EtcdBackupStatus {
  const before = storedBackupStatus.parse(previous ?? {});
  const { message: _gone, completionTime: _over, progress: _done, runStartTime: _begun, ...kept } = before;
  return {
    ...kept,
    startTime: before.startTime ?? timestampOf(now.getTime()),
    ...runStart(status, before, now),
    ...phaseOf(status, now),
    ...(status.progress === undefined ? {} : { progress: status.progress }),
    conditions: withTransitionTimes(conditionsOf(status), before.conditions ?? [], now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function phaseOf({ run, message, isProgressing }: BackupStatus, now: Date): Partial<EtcdBackupStatus> {
  if (run === undefined) return { phase: 'BackingUp', ...(isProgressing ? { message } : {}) };
  const completionTime = timestampOf(now.getTime());
  if (!run.ok) return { phase: 'Failed', completionTime, message: run.message };
  return { phase: 'Completed', completionTime, ...factsOf(run.facts) };
}

const factsOf = ({ url, revision, version, size, seconds, ...more }: AgentFacts): Partial<EtcdBackupStatus> =>
  Object.fromEntries(
    Object.entries({
      url,
      sizeBytes: size,
      etcdVersion: version,
      durationSeconds: seconds?.toString(),
      revision: revision === undefined ? undefined : Number(revision),
      verified: true,
      warnings: warningsIn(more),
    }).filter(([, value]) => value !== undefined),
  );

function conditionsOf({ isProgressing, reason, message, run }: BackupStatus): readonly UntimedCondition[] {
  const progressing: UntimedCondition = {
    type: 'Progressing',
    status: isProgressing ? 'True' : 'False',
    reason,
    message,
  };
  if (run === undefined) return [progressing];
  const succeeded: UntimedCondition = {
    type: 'Succeeded',
    status: run.ok ? 'True' : 'False',
    reason: outcomeOf(run),
    message: run.message,
  };
  return [progressing, succeeded];
}

/** An EtcdBackup with an invalid spec is Failed until the spec is corrected. */
export function writeBackupProblems(problems: string, previous: unknown, now: Date): EtcdBackupStatus {
  const before = storedBackupStatus.parse(previous ?? {});
  const failed: readonly UntimedCondition[] = [
    { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems },
    { type: 'Succeeded', status: 'False', reason: 'BadSpec', message: problems },
  ];
  return {
    ...before,
    phase: 'Failed',
    message: problems,
    conditions: withTransitionTimes(failed, before.conditions ?? [], now),
  };
}

/** True if the backup has ended. A backup with an invalid spec starts once the spec is corrected. */
export const hasBackupEnded = ({ phase, conditions = [] }: EtcdBackupStatus): boolean =>
  (phase === 'Completed' || phase === 'Failed') && !conditions.some(({ reason }) => reason === 'BadSpec');

export function figuresOf(status: unknown): BackupFigures {
  const { phase, startTime, sizeBytes, durationSeconds } = storedBackupStatus.parse(status ?? {});
  if (phase === 'Failed') return { failures: 1 };
  if (phase !== 'Completed') return {};
  return {
    lastSuccessAt: startTime === undefined ? undefined : Date.parse(startTime),
    sizeBytes,
    seconds: durationSeconds === undefined ? undefined : Number(durationSeconds),
    failures: 0,
  };
}
