import type { AgentProgress, AgentReport } from '../model/agent.ts';
import type { BackupIntent } from '../model/backup.ts';
import type { BackupVerdict } from '../plan/backup/plan-backup.ts';
import type { Reason } from '../reasons.ts';

/** What can be said of a backup after a pass. */
export interface BackupStatus {
  /** Whether something is under way or stands in the way. */
  readonly isProgressing: boolean;
  /** A pod of it is there, or about to be. */
  readonly isUnderWay?: true;
  readonly reason: Reason;
  readonly message: string;
  /** What keeps it from beginning. */
  readonly obstacle?: string;
  /** A run that has just come to its end. */
  readonly run?: BackupRun;
  /** How far the one is that is under way. */
  readonly progress?: AgentProgress | undefined;
  /** The time of the last run, where what was written down of it cannot be true. */
  readonly lastSlot?: number | undefined;
  /** When the next one will be, in milliseconds. */
  readonly nextAt?: number | undefined;
  /** The time of a run that was left out, because it was too late for it. */
  readonly missedAt?: number | undefined;
}

export interface BackupRun extends AgentReport {
  readonly slot: number;
}

/** Nothing where there is nothing new to say: what has ended stays as it was told. */
export function backupStatusOf(verdict: BackupVerdict, intent: BackupIntent): BackupStatus | undefined {
  switch (verdict.is) {
    case 'start':
      return { ...underWay, message: 'starting a pod that makes the backup' };
    case 'conclude':
      return concluded({ ...verdict.report, slot: verdict.agent.slot }, intent);
    case 'wait':
      return waiting(verdict);
    case 'paused':
      return { isProgressing: false, reason: 'Suspended', message: 'no backup is started while this is suspended' };
    case 'discard':
    case 'finished':
      return undefined;
    default:
      return verdict satisfies never;
  }
}

const underWay = { isProgressing: true, isUnderWay: true, reason: 'Saving' } as const;
const waitingForTime = { isProgressing: false, reason: 'Scheduled', message: 'waiting for its time' } as const;

function waiting(verdict: BackupVerdict & { readonly is: 'wait' }): BackupStatus {
  if (verdict.for === 'agent') return { ...underWay, message: verdict.message, progress: verdict.progress };
  if (verdict.for === 'time') {
    const { until: nextAt, missed: missedAt, lastSlot } = verdict;
    return { ...waitingForTime, nextAt, missedAt, lastSlot };
  }
  const { message } = verdict;
  return { isProgressing: true, reason: 'BackupBlocked', message, obstacle: message };
}

function concluded(run: BackupRun, { times }: BackupIntent): BackupStatus {
  const isOver = times === undefined;
  const reason = outcomeOf(run);
  return isOver ? { isProgressing: false, reason, message: run.message, run } : { ...waitingForTime, run };
}

export const outcomeOf = ({ ok }: Pick<AgentReport, 'ok'>): Reason => (ok ? 'Saved' : 'BackupFailed');
