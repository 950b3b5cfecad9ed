import { z } from 'zod';
import type { RestoreFindings } from '../common/restore-dialect.ts';
import { text } from '../common/schema/rule.ts';
import { lenient } from '../common/status/conditions.ts';
import {
  badSpec,
  commonStatus,
  reasonOf,
  restoreFields,
  stageDescription,
  stageOf,
  stages,
  storedRestoreFields,
} from '../common/status/restore-status.ts';

const fields = {
  succeeded: z.boolean().describe('succeeded is true once the cluster serves the restored data at its full size.'),
  reason: text(32_768).describe('reason is why the restore failed, or what blocks it.'),
  phase: z.enum(stages).describe(`phase is ${stageDescription}`),
  ...restoreFields,
} as const;

export const etcdRestoreStatus = z.object(fields).partial();
export type EtcdRestoreStatus = z.output<typeof etcdRestoreStatus>;
export const storedRestoreStatus: z.ZodType<EtcdRestoreStatus> = lenient({ ...fields, ...storedRestoreFields });

/** The status: the original's fields and our own. */
export function writeRestoreStatus(findings: RestoreFindings, previous: unknown): EtcdRestoreStatus {
  const before = storedRestoreStatus.parse(previous ?? {});
  const { verdict } = findings;
  if (verdict.is === 'over') return before;
  const reason = reasonOf(verdict);
  const { progress: _old, ...kept } = before;
  return {
    phase: 'Proving',
    ...kept,
    ...(verdict.is === 'enter' ? { phase: stageOf(verdict.phase) } : {}),
    ...(reason === undefined ? {} : { succeeded: reason === '', reason }),
    ...commonStatus({ ...findings, verdict }, before),
  };
}

export function writeRestoreProblems(problems: string, previous: unknown, now: Date): EtcdRestoreStatus {
  const before = storedRestoreStatus.parse(previous ?? {});
  return { ...before, succeeded: false, reason: problems, ...badSpec(problems, before, now) };
}
