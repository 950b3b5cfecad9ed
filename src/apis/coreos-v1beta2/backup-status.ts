import { z } from 'zod';
import type { AgentFacts } from '../../core/backup/agent.ts';
import { type BackupStatus, outcomeOf } from '../../core/backup/status.ts';
import type { BackupFigures, BackupFindings } from '../common/backup-dialect.ts';
import { warnings, warningsIn } from '../common/backup-warnings.ts';
import { missedTime } from '../common/schedule-settings.ts';
import { listBy, text } from '../common/schema/rule.ts';
import { isBackupBlocked, lenient, mergeConditions, type NewCondition } from '../common/status/conditions.ts';
import { progress } from '../common/status/progress.ts';
import { runStart, runStartTime } from '../common/status/run-start.ts';

const time = text(64);

const condition = z.object({
  type: text(316).describe(
    'type is Progressing (a backup is running or blocked) or Succeeded (the result of the last backup).',
  ),
  status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
  reason: text(1024).optional().describe('reason is the cause in one word.'),
  message: text(32_768).optional().describe('message is the cause in one sentence.'),
  lastUpdateTime: time.optional().describe('lastUpdateTime is when any field of the condition last changed.'),
  lastTransitionTime: time.optional().describe('lastTransitionTime is when status last changed.'),
});

const fields = {
  succeeded: z.boolean().describe('succeeded is true if the last backup was successful.'),
  Reason: text(32_768).describe('Reason is why the last backup failed, or what blocks the next one.'),
  etcdVersion: text(64).describe('etcdVersion is the etcd version of the last successful backup.'),
  etcdRevision: z.int().describe('etcdRevision is the revision of the last successful backup.'),
  lastSuccessDate: time.describe('lastSuccessDate is when the last successful backup started.'),
  runStartTime,
  lastScheduleTime: time.describe('lastScheduleTime is the scheduled time of the last finished backup.'),
  nextScheduleTime: time.describe('nextScheduleTime is when the next backup is due.'),
  lastMissedTime: missedTime,
  lastBackup: z
    .object({
      url: text(4096).optional().describe('url is the URL of the backup.'),
      path: text(4096)
        .optional()
        .describe(
          'path is the value for the path of an EtcdRestore. For a volume, the PersistentVolumeClaim comes first.',
        ),
      sizeBytes: z.int().optional().describe('sizeBytes is the size of the backup in the store.'),
      durationSeconds: text(32).optional().describe('durationSeconds is how long the backup took.'),
      verified: z
        .boolean()
        .optional()
        .describe(
          "verified is true if etcd's hash of the snapshot and the checksum of the stored object were checked.",
        ),
    })
    .describe('lastBackup describes the last successful backup.'),
  warnings,
  progress,
  failures: z.int().describe('failures is the number of failed backups since the last successful one.'),
  conditions: listBy('type', condition, 32).describe('conditions are the current conditions of the backup.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

export const etcdBackupStatus = z.object(fields).partial();
export type EtcdBackupStatus = z.output<typeof etcdBackupStatus>;
export const storedBackupStatus: z.ZodType<EtcdBackupStatus> = lenient(fields);

/** The status: the original's fields and our own. */
export function writeBackupStatus({ status, generation, now }: BackupFindings, previous: unknown): EtcdBackupStatus {
  const before = storedBackupStatus.parse(previous ?? {});
  return {
    ...keptOf(status, before),
    ...runStart(status, before, now),
    ...afterRun(status, before),
    ...(status.obstacle === undefined ? {} : { succeeded: false, Reason: status.obstacle }),
    ...(status.progress === undefined ? {} : { progress: status.progress }),
    ...(status.nextAt === undefined ? {} : { nextScheduleTime: timeOf(status.nextAt) }),
    ...(status.missedAt === undefined ? {} : { lastMissedTime: timeOf(status.missedAt) }),
    conditions: mergeConditions(conditionsOf(status, before), before.conditions ?? [], now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/**
 * Keeps fields of the previous status. Progress and obstacles are written anew; warnings stay until the next success.
 */
function keptOf({ run, lastSlot }: BackupStatus, before: EtcdBackupStatus): EtcdBackupStatus {
  const { nextScheduleTime: _gone, progress: _over, runStartTime: _begun, warnings: oldWarnings, ...kept } = before;
  return {
    ...kept,
    ...(isBackupBlocked(before.conditions) ? { Reason: '' } : {}),
    ...(oldWarnings === undefined || run?.ok === true ? {} : { warnings: oldWarnings }),
    ...(lastSlot === undefined ? {} : { lastScheduleTime: timeOf(lastSlot) }),
  };
}

/** A failed run keeps the facts of the last successful backup. */
function afterRun({ run }: BackupStatus, { failures = 0 }: EtcdBackupStatus): Partial<EtcdBackupStatus> {
  if (run === undefined) return {};
  const lastScheduleTime = timeOf(run.slot);
  if (!run.ok) return { succeeded: false, Reason: run.message, lastScheduleTime, failures: failures + 1 };
  return { succeeded: true, Reason: '', lastScheduleTime, failures: 0, ...factsOf(run.facts) };
}

const factsOf = ({ version, revision, takenAt, url, size, seconds, ...more }: AgentFacts): Partial<EtcdBackupStatus> =>
  present({
    etcdVersion: version,
    etcdRevision: revision && Number(revision),
    lastSuccessDate: takenAt && timeOf(Date.parse(takenAt)),
    lastBackup: present({
      url,
      path: pathIn(url),
      sizeBytes: size,
      durationSeconds: seconds?.toString(),
      verified: true,
    }),
    warnings: warningsIn(more),
  });

/** The path of a URL, percent-decoded. */
const pathIn = (url: string | undefined): string | undefined => {
  const { hostname, pathname } = URL.parse(url ?? '') ?? {};
  return hostname && decodeURIComponent(`${hostname}${pathname}`);
};

const present = (fieldsFound: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fieldsFound).filter(([, value]) => value !== undefined && value !== ''));

const timeOf = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');

function conditionsOf(status: BackupStatus, before: EtcdBackupStatus): readonly NewCondition[] {
  const { isProgressing, reason, message, run } = status;
  const progressing: NewCondition = { type: 'Progressing', status: isProgressing ? 'True' : 'False', reason, message };
  const last = (before.conditions ?? []).find(({ type }) => type === 'Succeeded');
  if (run !== undefined)
    return [
      progressing,
      { type: 'Succeeded', status: run.ok ? 'True' : 'False', reason: outcomeOf(run), message: run.message },
    ];
  return last === undefined ? [progressing] : [progressing, last];
}

/** The status of an EtcdBackup with an invalid spec: the problems, and the facts of earlier backups. */
export function writeBackupProblems(problems: string, previous: unknown, now: Date): EtcdBackupStatus {
  const before = storedBackupStatus.parse(previous ?? {});
  const progressing: NewCondition = { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems };
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  const conditions = [...mergeConditions([progressing], before.conditions ?? [], now), ...others];
  return { ...before, succeeded: false, Reason: problems, conditions };
}

export function figuresOf(status: unknown): BackupFigures {
  const { lastSuccessDate, lastBackup, failures } = storedBackupStatus.parse(status ?? {});
  const { sizeBytes, durationSeconds } = lastBackup ?? {};
  return {
    lastSuccessAt: lastSuccessDate === undefined ? undefined : Date.parse(lastSuccessDate),
    sizeBytes,
    seconds: durationSeconds === undefined ? undefined : Number(durationSeconds),
    failures,
  };
}
