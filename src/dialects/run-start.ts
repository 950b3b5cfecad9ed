import type { BackupStatus } from '../core/status/backup-status.ts';
import { text } from './rule.ts';

/** In the status of a backup of either API. */
export const runStartTime = text(64).describe(
  'When the run that is under way began; one pod may follow another in it.',
);

interface Begun {
  readonly runStartTime?: string | undefined;
}

/** From the first pod of a run until its end: what stands in the way of another pod does not make it a new run. */
export function runStart({ isUnderWay, isProgressing, run }: BackupStatus, before: Begun, now: Date): Begun {
  if (run !== undefined || !isProgressing) return {};
  const start = before.runStartTime ?? (isUnderWay === true ? timeOf(now) : undefined);
  return start === undefined ? {} : { runStartTime: start };
}

const timeOf = (now: Date): string => now.toISOString().replace(/\.\d+Z$/, 'Z');

/** In milliseconds, for the core. */
export function begunAt({ runStartTime: start }: Begun): number | undefined {
  const millis = Date.parse(start ?? '');
  return Number.isNaN(millis) ? undefined : millis;
}
