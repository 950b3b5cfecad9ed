import { z } from 'zod';
import { found } from '../conditions.ts';
import type { RestoreFindings } from '../restore-dialect.ts';
import { badSpec, commonStatus, reasonOf, restoreFields, saysOfStages, stageOf, stages } from '../restore-status.ts';
import { text } from '../rule.ts';

const fields = {
  succeeded: z.boolean().describe('Whether the cluster serves what was restored, at its full size.'),
  reason: text(32_768).describe('Why it failed, or what holds it up.'),
  phase: z.enum(stages).describe(saysOfStages),
  ...restoreFields,
} as const;

export const etcdRestoreStatus = z.object(fields).partial();
export type EtcdRestoreStatus = z.output<typeof etcdRestoreStatus>;
export const foundRestoreStatus: z.ZodType<EtcdRestoreStatus> = found(fields);

/** What was found, in the words of the original and in some of our own. */
export function writeRestoreStatus(findings: RestoreFindings, previous: unknown): EtcdRestoreStatus {
  const before = foundRestoreStatus.parse(previous ?? {});
  const { verdict } = findings;
  if (verdict.is === 'over') return before;
  const reason = reasonOf(verdict);
  const { progress: _told, ...kept } = before;
  return {
    phase: 'Proving',
    ...kept,
    ...(verdict.is === 'enter' ? { phase: stageOf(verdict.phase) } : {}),
    ...(reason === undefined ? {} : { succeeded: reason === '', reason }),
    ...commonStatus({ ...findings, verdict }, before),
  };
}

export function writeRestoreProblems(problems: string, previous: unknown, now: Date): EtcdRestoreStatus {
  const before = foundRestoreStatus.parse(previous ?? {});
  return { ...before, succeeded: false, reason: problems, ...badSpec(problems, before, now) };
}
