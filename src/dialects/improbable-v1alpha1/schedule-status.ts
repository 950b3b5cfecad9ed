import { z } from 'zod';
import type { ScheduledBackup, ScheduleWorld } from '../../core/model/schedule.ts';
import type { ScheduleVerdict } from '../../core/plan/schedule/plan-schedule.ts';
import type { Reason } from '../../core/reasons.ts';
import { found } from '../conditions.ts';
import { listBy, text } from '../rule.ts';
import type { ScheduleFindings } from '../schedule-dialect.ts';
import { missedTime } from '../schedule-settings.ts';
import { time, timeOf } from './backup-status.ts';
import { conditionFields, type Said, stamped } from './conditions.ts';

const name = text(253);

const fields = {
  lastScheduleTime: time.describe('For which time the last backup was begun.'),
  nextScheduleTime: time.describe('When the next backup is due.'),
  lastSuccessfulTime: time.describe('For which time the last good backup was begun.'),
  lastMissedTime: missedTime,
  active: name.describe('The EtcdBackup that is being made.'),
  lastBackup: name.describe('The EtcdBackup that was made last.'),
  conditions: listBy(
    'type',
    conditionFields('Progressing: a backup is being made. Succeeded: how the last one ended.'),
    32,
  ).describe('What is true of the schedule now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

export const etcdBackupScheduleStatus = z.object(fields).partial();
export type EtcdBackupScheduleStatus = z.output<typeof etcdBackupScheduleStatus>;
export const foundScheduleStatus: z.ZodType<EtcdBackupScheduleStatus> = found(fields);

export function writeScheduleStatus(
  { verdict, world, generation, now }: ScheduleFindings,
  previous: unknown,
): EtcdBackupScheduleStatus {
  const before = foundScheduleStatus.parse(previous ?? {});
  const [next, missed] = timesOf(verdict, before);
  return present({
    lastScheduleTime: shown(begunFor(verdict, world)),
    nextScheduleTime: next,
    lastMissedTime: missed,
    ...backupsOf(world, before),
    conditions: stamped(conditionsOf(verdict, world, before), before.conditions ?? [], now),
    observedGeneration: generation,
  });
}

/** One that makes room has not been begun: it, or the next, is made as soon as it is gone, also if we are killed before. */
function begunFor(verdict: ScheduleVerdict, { lastSlot }: ScheduleWorld): number | undefined {
  if (verdict.is === 'replace') return undefined;
  return verdict.is === 'start' ? verdict.slot : lastSlot;
}

/** Of backups whose resources are gone, what was said of the last stays. */
function backupsOf({ backups }: ScheduleWorld, before: EtcdBackupScheduleStatus): EtcdBackupScheduleStatus {
  const good = newest(backups.filter(({ state }) => state === 'succeeded'));
  return {
    lastSuccessfulTime: shown(good?.slot ?? good?.createdAt) ?? before.lastSuccessfulTime,
    active: backups.find(({ state }) => state === 'active')?.name,
    lastBackup: newest(backups)?.name ?? before.lastBackup,
  };
}

type Texts = readonly [next: string | undefined, missed: string | undefined];

/** While something else is being done, when the next one is due stays as it was told. */
function timesOf(verdict: ScheduleVerdict, { nextScheduleTime, lastMissedTime }: EtcdBackupScheduleStatus): Texts {
  if (verdict.is === 'paused') return [undefined, lastMissedTime];
  if (verdict.is !== 'wait' || verdict.for !== 'time') return [nextScheduleTime, lastMissedTime];
  return [shown(verdict.until), shown(verdict.missed) ?? lastMissedTime];
}

const shown = (millis: number | undefined): string | undefined => (millis === undefined ? undefined : timeOf(millis));

const newest = (backups: readonly ScheduledBackup[]): ScheduledBackup | undefined =>
  backups.toSorted((a, b) => b.createdAt - a.createdAt || (b.slot ?? 0) - (a.slot ?? 0))[0];

function conditionsOf(
  verdict: ScheduleVerdict,
  { backups }: ScheduleWorld,
  before: EtcdBackupScheduleStatus,
): readonly Said[] {
  const active = backups.find(({ state }) => state === 'active');
  const isActive = verdict.is === 'start' || verdict.is === 'refused' || active !== undefined;
  const progressing: Said = { type: 'Progressing', status: isActive ? 'True' : 'False', ...doing(verdict, active) };
  const ended = newest(backups.filter(({ state }) => state !== 'active'));
  const last = ended === undefined ? kept(before) : endOf(ended);
  return last === undefined ? [progressing] : [progressing, last];
}

function doing(verdict: ScheduleVerdict, active: ScheduledBackup | undefined): Pick<Said, 'reason' | 'message'> {
  const said = (reason: Reason, message: string) => ({ reason, message });
  if (verdict.is === 'refused') return said('BackupBlocked', `an EtcdBackup cannot be created: ${verdict.message}`);
  if (active?.isBlocked === true)
    return said('BackupBlocked', `EtcdBackup ${active.name} cannot begin: ${active.message ?? 'it does not say why'}`);
  if (active !== undefined) return said('Saving', `EtcdBackup ${active.name} is being made`);
  if (verdict.is === 'start') return said('Saving', 'an EtcdBackup is being created');
  if (verdict.is === 'paused') return said('Suspended', 'no backup is begun while this is suspended');
  return said('Scheduled', 'waiting for its time');
}

const endOf = ({ name: of, state, message: why }: ScheduledBackup): Said => ({
  type: 'Succeeded',
  status: state === 'succeeded' ? 'True' : 'False',
  reason: (state === 'succeeded' ? 'Saved' : 'BackupFailed') satisfies Reason,
  message: state === 'failed' && why !== undefined ? `EtcdBackup ${of}: ${why}` : `EtcdBackup ${of}`,
});

const kept = ({ conditions = [] }: EtcdBackupScheduleStatus): Said | undefined =>
  conditions.find(({ type }) => type === 'Succeeded');

/** Of an object that cannot be read we only say what is wrong with it; what is known of earlier backups stays. */
export function writeScheduleProblems(problems: string, previous: unknown, now: Date): EtcdBackupScheduleStatus {
  const { nextScheduleTime: _gone, ...before } = foundScheduleStatus.parse(previous ?? {});
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  const said: Said = { type: 'Progressing', status: 'False', reason: 'BadSpec', message: problems };
  return { ...before, conditions: [...stamped([said], before.conditions ?? [], now), ...others] };
}

const present = (
  status: {
    readonly [K in keyof EtcdBackupScheduleStatus]: EtcdBackupScheduleStatus[K] | undefined;
  },
): EtcdBackupScheduleStatus => Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
