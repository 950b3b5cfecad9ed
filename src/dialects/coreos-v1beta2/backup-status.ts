import { z } from 'zod';
import type { AgentFacts } from '../../core/model/agent.ts';
import { type BackupStatus, outcomeOf } from '../../core/status/backup-status.ts';
import type { BackupFigures, BackupFindings } from '../backup-dialect.ts';
import { found, isHeldUp, merged, type Said } from '../conditions.ts';
import { warnings, warningsIn } from '../doubts.ts';
import { progress } from '../progress.ts';
import { listBy, text } from '../rule.ts';
import { runStart, runStartTime } from '../run-start.ts';
import { missedTime } from '../schedule-settings.ts';

const time = text(64);

const condition = z.object({
  type: text(316).describe('Progressing: a backup is under way or held up. Succeeded: how the last one ended.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: text(1024).optional().describe('Why, in a word.'),
  message: text(32_768).optional().describe('Why, in a sentence.'),
  lastUpdateTime: time.optional().describe('When anything in this condition last changed.'),
  lastTransitionTime: time.optional().describe('When status last changed.'),
});

const fields = {
  succeeded: z.boolean().describe('Whether the last backup went well.'),
  Reason: text(32_768).describe('Why the last backup failed, or what keeps it from beginning.'),
  etcdVersion: text(64).describe('Version of the etcd that the last good backup is of.'),
  etcdRevision: z.int().describe('Revision of the store when the last good backup was begun.'),
  lastSuccessDate: time.describe('When the last good backup was begun.'),
  runStartTime,
  lastScheduleTime: time.describe('For which time the last backup that has ended was made.'),
  nextScheduleTime: time.describe('When the next backup is due.'),
  lastMissedTime: missedTime,
  lastBackup: z
    .object({
      url: text(4096).optional().describe('Where it is.'),
      path: text(4096)
        .optional()
        .describe('The same as an EtcdRestore wants it in its path; on a volume, with the claim before it.'),
      sizeBytes: z.int().optional().describe('How large it is there.'),
      durationSeconds: text(32).optional().describe('How long it took.'),
      verified: z
        .boolean()
        .optional()
        .describe("Whether it is whole: etcd's own hash was checked, and that the store holds the same bytes."),
    })
    .describe('The last good backup.'),
  warnings,
  progress,
  failures: z.int().describe('How many backups have failed since the last good one.'),
  conditions: listBy('type', condition, 32).describe('What is true of the backup now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

export const etcdBackupStatus = z.object(fields).partial();
export type EtcdBackupStatus = z.output<typeof etcdBackupStatus>;
export const foundBackupStatus: z.ZodType<EtcdBackupStatus> = found(fields);

/** What was found, in the words of the original and in some of our own. */
export function writeBackupStatus({ status, generation, now }: BackupFindings, previous: unknown): EtcdBackupStatus {
  const before = foundBackupStatus.parse(previous ?? {});
  return {
    ...keptOf(status, before),
    ...runStart(status, before, now),
    ...afterRun(status, before),
    ...(status.obstacle === undefined ? {} : { succeeded: false, Reason: status.obstacle }),
    ...(status.progress === undefined ? {} : { progress: status.progress }),
    ...(status.nextAt === undefined ? {} : { nextScheduleTime: timeOf(status.nextAt) }),
    ...(status.missedAt === undefined ? {} : { lastMissedTime: timeOf(status.missedAt) }),
    conditions: merged(conditionsOf(status, before), before.conditions ?? [], now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** What is under way or in the way is told anew each time; what is doubtful, with the next good backup. */
function keptOf({ run, lastSlot }: BackupStatus, before: EtcdBackupStatus): EtcdBackupStatus {
  const { nextScheduleTime: _gone, progress: _over, runStartTime: _begun, warnings: doubts, ...kept } = before;
  return {
    ...kept,
    ...(isHeldUp(before.conditions) ? { Reason: '' } : {}),
    ...(doubts === undefined || run?.ok === true ? {} : { warnings: doubts }),
    ...(lastSlot === undefined ? {} : { lastScheduleTime: timeOf(lastSlot) }),
  };
}

/** On failure only that it failed is told: what is known of the last good backup stays. */
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
      ...{ url, path: pathIn(url), sizeBytes: size, durationSeconds: seconds?.toString() },
      verified: true,
    }),
    warnings: warningsIn(more),
  });

/** A URL may have signs for others in it. */
const pathIn = (url: string | undefined): string | undefined => {
  const { hostname, pathname } = URL.parse(url ?? '') ?? {};
  return hostname && decodeURIComponent(`${hostname}${pathname}`);
};

const present = (fieldsFound: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fieldsFound).filter(([, value]) => value !== undefined && value !== ''));

const timeOf = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');

function conditionsOf(status: BackupStatus, before: EtcdBackupStatus): readonly Said[] {
  const { isProgressing, reason, message, run } = status;
  const progressing: Said = { type: 'Progressing', status: isProgressing ? 'True' : 'False', reason, message };
  const last = (before.conditions ?? []).find(({ type }) => type === 'Succeeded');
  if (run !== undefined)
    return [
      progressing,
      { type: 'Succeeded', status: run.ok ? 'True' : 'False', reason: outcomeOf(run), message: run.message },
    ];
  return last === undefined ? [progressing] : [progressing, last];
}

/** Of an object that cannot be read we only say what is wrong with it; what is known of earlier backups stays. */
export function writeBackupProblems(problems: string, previous: unknown, now: Date): EtcdBackupStatus {
  const before = foundBackupStatus.parse(previous ?? {});
  const said: Said = { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems };
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  const conditions = [...merged([said], before.conditions ?? [], now), ...others];
  return { ...before, succeeded: false, Reason: problems, conditions };
}

export function figuresOf(status: unknown): BackupFigures {
  const { lastSuccessDate, lastBackup, failures } = foundBackupStatus.parse(status ?? {});
  const { sizeBytes, durationSeconds } = lastBackup ?? {};
  return {
    lastSuccessAt: lastSuccessDate === undefined ? undefined : Date.parse(lastSuccessDate),
    sizeBytes,
    seconds: durationSeconds === undefined ? undefined : Number(durationSeconds),
    failures,
  };
}
