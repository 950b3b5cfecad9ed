import type { Reason } from '../reasons.ts';
import type { AgentProgress, AgentReport } from './agent.ts';
import type { BackupIntent } from './model.ts';
import type { BackupVerdict } from './plan.ts';

/** The status of a backup after a pass. */
export interface BackupStatus {
  /** True if a run is in progress or blocked. */
  readonly isProgressing: boolean;
  /** Set if an agent pod exists or is being created. */
  readonly isUnderWay?: true;
  readonly reason: Reason;
  readonly message: string;
  /** The cause if no run can start. */
  readonly obstacle?: string;
  /** A run that has just finished. */
  readonly run?: BackupRun;
  /** The progress of the current run. */
  readonly progress?: AgentProgress | undefined;
  /** A corrected time of the last run, if the recorded time lies in the future. */
  readonly lastSlot?: number | undefined;
  /** The time of the next run, in milliseconds. */
  readonly nextAt?: number | undefined;
  /** The scheduled time of a run that was skipped because its starting deadline has passed. */
  readonly missedAt?: number | undefined;
}

export interface BackupRun extends AgentReport {
  readonly slot: number;
}

/**
 * The new status; undefined if the status of a finished backup stays. `refusal`: why the API server refused the pod of
 * a run.
 */
export function backupStatusOf(
  verdict: BackupVerdict,
  intent: BackupIntent,
  refusal?: string,
): BackupStatus | undefined {
  if (refusal !== undefined) return blockedBy(refusal);
  switch (verdict.is) {
    case 'start':
      return { ...underWay, message: 'starting the backup pod' };
    case 'conclude':
      return concluded({ ...verdict.report, slot: verdict.agent.slot }, intent);
    case 'wait':
      return waiting(verdict);
    case 'paused':
      return {
        isProgressing: false,
        reason: 'Suspended',
        message: 'suspended: no backup is started until suspend is cleared',
      };
    case 'discard':
    case 'finished':
      return undefined;
    default:
      return verdict satisfies never;
  }
}

const underWay = { isProgressing: true, isUnderWay: true, reason: 'Saving' } as const;
const waitingForTime = {
  isProgressing: false,
  reason: 'Scheduled',
  message: 'waiting for the next scheduled time',
} as const;

function waiting(verdict: BackupVerdict & { readonly is: 'wait' }): BackupStatus {
  if (verdict.for === 'agent') return { ...underWay, message: verdict.message, progress: verdict.progress };
  if (verdict.for === 'time') {
    const { until: nextAt, missed: missedAt, lastSlot } = verdict;
    return { ...waitingForTime, nextAt, missedAt, lastSlot };
  }
  return blockedBy(verdict.message);
}

const blockedBy = (message: string): BackupStatus => ({
  isProgressing: true,
  reason: 'BackupBlocked',
  message,
  obstacle: message,
});

function concluded(run: BackupRun, { times }: BackupIntent): BackupStatus {
  const isOver = times === undefined;
  const reason = outcomeOf(run);
  return isOver ? { isProgressing: false, reason, message: run.message, run } : { ...waitingForTime, run };
}

export const outcomeOf = ({ ok }: Pick<AgentReport, 'ok'>): Reason => (ok ? 'Saved' : 'BackupFailed');
