import { z } from 'zod';
import type { Reason } from '../../../core/reasons.ts';
import type { ScheduledBackup, ScheduleWorld } from '../../../core/schedule/model.ts';
import type { ScheduleVerdict } from '../../../core/schedule/plan.ts';
import type { ScheduleFindings } from '../../common/schedule-dialect.ts';
import { missedTime } from '../../common/schedule-settings.ts';
import { listBy, text } from '../../common/schema/rule.ts';
import { lenient } from '../../common/status/conditions.ts';
import { conditionFields, type UntimedCondition, withTransitionTimes } from '../conditions.ts';
import { time, timestampOf } from './backup-status.ts';

const name = text(253);

const fields = {
  lastScheduleTime: time.describe('lastScheduleTime is the scheduled time of the last backup.'),
  nextScheduleTime: time.describe('nextScheduleTime is when the next backup is due.'),
  lastSuccessfulTime: time.describe('lastSuccessfulTime is the scheduled time of the last successful backup.'),
  lastMissedTime: missedTime,
  active: name.describe('active is the name of the running EtcdBackup.'),
  lastBackup: name.describe('lastBackup is the name of the newest EtcdBackup.'),
  conditions: listBy(
    'type',
    conditionFields('type is Progressing (a backup is running) or Succeeded (the result of the last backup).'),
    32,
  ).describe('conditions are the current conditions of the schedule.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

export const etcdBackupScheduleStatus = z.object(fields).partial();
export type EtcdBackupScheduleStatus = z.output<typeof etcdBackupScheduleStatus>;
export const storedScheduleStatus: z.ZodType<EtcdBackupScheduleStatus> = lenient(fields);

export function writeScheduleStatus(
  { verdict, world, generation, now }: ScheduleFindings,
  previous: unknown,
): EtcdBackupScheduleStatus {
  const before = storedScheduleStatus.parse(previous ?? {});
  const [next, missed] = timesOf(verdict, before);
  return present({
    lastScheduleTime: timeOrNone(begunFor(verdict, world)),
    nextScheduleTime: next,
    lastMissedTime: missed,
    ...backupsOf(world, before),
    conditions: withTransitionTimes(conditionsOf(verdict, world, before), before.conditions ?? [], now),
    observedGeneration: generation,
  });
}

/**
 * The scheduled time of the last started backup. A replacement starts in a later pass, once the old EtcdBackup is gone.
 */
function begunFor(verdict: ScheduleVerdict, { lastSlot }: ScheduleWorld): number | undefined {
  if (verdict.is === 'replace') return undefined;
  return verdict.is === 'start' ? verdict.slot : lastSlot;
}

/** The results of backups. If their EtcdBackups are deleted, the previous status is kept. */
function backupsOf({ backups }: ScheduleWorld, before: EtcdBackupScheduleStatus): EtcdBackupScheduleStatus {
  const good = newest(backups.filter(({ state }) => state === 'succeeded'));
  return {
    lastSuccessfulTime: timeOrNone(good?.slot ?? good?.createdAt) ?? before.lastSuccessfulTime,
    active: backups.find(({ state }) => state === 'active')?.name,
    lastBackup: newest(backups)?.name ?? before.lastBackup,
  };
}

type Texts = readonly [next: string | undefined, missed: string | undefined];

/** The next and the last missed time. Both are kept while the verdict does not wait for a time. */
function timesOf(verdict: ScheduleVerdict, { nextScheduleTime, lastMissedTime }: EtcdBackupScheduleStatus): Texts {
  if (verdict.is === 'paused') return [undefined, lastMissedTime];
  if (verdict.is !== 'wait' || verdict.for !== 'time') return [nextScheduleTime, lastMissedTime];
  return [timeOrNone(verdict.until), timeOrNone(verdict.missed) ?? lastMissedTime];
}

const timeOrNone = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : timestampOf(millis);

const newest = (backups: readonly ScheduledBackup[]): ScheduledBackup | undefined =>
  backups.toSorted((a, b) => b.createdAt - a.createdAt || (b.slot ?? 0) - (a.slot ?? 0))[0];

function conditionsOf(
  verdict: ScheduleVerdict,
  { backups }: ScheduleWorld,
  before: EtcdBackupScheduleStatus,
): readonly UntimedCondition[] {
  const active = backups.find(({ state }) => state === 'active');
  const isActive = verdict.is === 'start' || verdict.is === 'refused' || active !== undefined;
  const progressing: UntimedCondition = {
    type: 'Progressing',
    status: isActive ? 'True' : 'False',
    ...progressOf(verdict, active),
  };
  const ended = newest(backups.filter(({ state }) => state !== 'active'));
  const last = ended === undefined ? kept(before) : endOf(ended);
  return last === undefined ? [progressing] : [progressing, last];
}

function progressOf(
  verdict: ScheduleVerdict,
  active: ScheduledBackup | undefined,
): Pick<UntimedCondition, 'reason' | 'message'> {
  const because = (reason: Reason, message: string) => ({ reason, message });
  if (verdict.is === 'refused') return because('BackupBlocked', `EtcdBackup cannot be created: ${verdict.message}`);
  if (active?.isBlocked === true)
    return because('BackupBlocked', `EtcdBackup ${active.name} cannot start: ${active.message ?? 'unknown reason'}`);
  if (active !== undefined) return because('Saving', `EtcdBackup ${active.name} is running`);
  if (verdict.is === 'start') return because('Saving', 'creating EtcdBackup');
  if (verdict.is === 'paused') return because('Suspended', 'no backups are started: spec.suspend is true');
  return because('Scheduled', 'waiting for the next scheduled time');
}

const endOf = ({ name: backup, state, message: why }: ScheduledBackup): UntimedCondition => ({
  type: 'Succeeded',
  status: state === 'succeeded' ? 'True' : 'False',
  reason: (state === 'succeeded' ? 'Saved' : 'BackupFailed') satisfies Reason,
  message: state === 'failed' && why !== undefined ? `EtcdBackup ${backup}: ${why}` : `EtcdBackup ${backup}`,
});

const kept = ({ conditions = [] }: EtcdBackupScheduleStatus): UntimedCondition | undefined =>
  conditions.find(({ type }) => type === 'Succeeded');

/** The status of a schedule with an invalid spec: the problems, and the results of earlier backups. */
export function writeScheduleProblems(problems: string, previous: unknown, now: Date): EtcdBackupScheduleStatus {
  const { nextScheduleTime: _gone, ...before } = storedScheduleStatus.parse(previous ?? {});
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  const progressing: UntimedCondition = { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems };
  return { ...before, conditions: [...withTransitionTimes([progressing], before.conditions ?? [], now), ...others] };
}

const present = (
  status: {
    readonly [K in keyof EtcdBackupScheduleStatus]: EtcdBackupScheduleStatus[K] | undefined;
  },
): EtcdBackupScheduleStatus => Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
