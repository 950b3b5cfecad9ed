import type { BackupStatus } from '../../../core/backup/status.ts';
import { text } from '../schema/rule.ts';

/** A field in the backup status of both APIs. */
export const runStartTime = text(64).describe(
  'runStartTime is when the current run started. A run may use several pods, one after another.',
);

interface RunStart {
  readonly runStartTime?: string | undefined;
}

/** Set from the first pod of a run to its end. A blocked retry belongs to the same run. */
export function runStart({ isUnderWay, isProgressing, run }: BackupStatus, before: RunStart, now: Date): RunStart {
  if (run !== undefined || !isProgressing) return {};
  const start = before.runStartTime ?? (isUnderWay === true ? timeOf(now) : undefined);
  return start === undefined ? {} : { runStartTime: start };
}

const timeOf = (now: Date): string => now.toISOString().replace(/\.\d+Z$/, 'Z');

/** The start of the run in milliseconds, for the core. */
export function begunAt({ runStartTime: start }: RunStart): number | undefined {
  const millis = Date.parse(start ?? '');
  return Number.isNaN(millis) ? undefined : millis;
}
