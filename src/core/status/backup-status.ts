import type { AgentReport } from '../model/agent.ts';
import type { BackupIntent } from '../model/backup.ts';
import type { BackupVerdict } from '../plan/backup/plan-backup.ts';
import type { Reason } from '../reasons.ts';

/** What can be said of a backup after a pass. */
export interface BackupStatus {
  /** Whether something is under way or stands in the way. */
  readonly isProgressing: boolean;
  readonly reason: Reason;
  readonly message: string;
  /** What keeps it from beginning. */
  readonly obstacle?: string;
  /** A run that has just come to its end. */
  readonly run?: BackupRun;
  /** When the next one will be, in milliseconds. */
  readonly nextAt?: number;
}

export interface BackupRun extends AgentReport {
  readonly slot: number;
}

/** Nothing where there is nothing new to say: what has ended stays as it was told. */
export function backupStatusOf(verdict: BackupVerdict, intent: BackupIntent): BackupStatus | undefined {
  switch (verdict.is) {
    case 'start':
      return { isProgressing: true, reason: 'Saving', message: 'starting a pod that makes the backup' };
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

function waiting(verdict: BackupVerdict & { readonly is: 'wait' }): BackupStatus {
  if (verdict.for === 'agent') return { isProgressing: true, reason: 'Saving', message: verdict.message };
  if (verdict.for === 'time')
    return { isProgressing: false, reason: 'Scheduled', message: 'waiting for its time', nextAt: verdict.until };
  const { message } = verdict;
  return { isProgressing: true, reason: 'BackupBlocked', message, obstacle: message };
}

function concluded(run: BackupRun, { intervalSeconds }: BackupIntent): BackupStatus {
  const isOver = intervalSeconds === undefined;
  const reason = outcomeOf(run);
  return isOver
    ? { isProgressing: false, reason, message: run.message, run }
    : { isProgressing: false, reason: 'Scheduled', message: 'waiting for its time', run };
}

export const outcomeOf = ({ ok }: Pick<AgentReport, 'ok'>): Reason => (ok ? 'Saved' : 'BackupFailed');
