import { z } from 'zod';
import type { RestorePhase } from '../../../core/restore/model.ts';
import type { RestoreFindings } from '../../common/restore-dialect.ts';
import { text } from '../../common/schema/rule.ts';
import { lenient } from '../../common/status/conditions.ts';
import {
  badSpec,
  commonStatus,
  phaseOfStage,
  reasonOf,
  restoreFields,
  stageDescription,
  stageOf,
  stages,
  storedRestoreFields,
} from '../../common/status/restore-status.ts';

const fields = {
  phase: z
    .enum(['Pending', 'Completed', 'Failed'])
    .describe('phase is Pending (running or blocked), Completed or Failed.'),
  stage: z.enum(stages).describe(`stage is ${stageDescription}`),
  reason: text(32_768).describe('reason is why the restore failed, or what blocks it.'),
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
    phase: 'Pending',
    stage: 'Proving',
    ...kept,
    ...(verdict.is === 'enter' ? { phase: phaseOf(verdict.phase), stage: stageOf(verdict.phase) } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...commonStatus({ ...findings, verdict }, before),
  };
}

function phaseOf(phase: RestorePhase): NonNullable<EtcdRestoreStatus['phase']> {
  if (phase === 'complete') return 'Completed';
  return phase === 'failed' ? 'Failed' : 'Pending';
}

/** The restore phase. A status without stage is from the original, which ignores finished restores. */
export function phaseIn({ phase, stage }: EtcdRestoreStatus): RestorePhase {
  if (stage !== undefined) return phaseOfStage(stage);
  if (phase === 'Completed') return 'complete';
  return phase === 'Failed' ? 'failed' : 'proving';
}

export function writeRestoreProblems(problems: string, previous: unknown, now: Date): EtcdRestoreStatus {
  const before = storedRestoreStatus.parse(previous ?? {});
  return { phase: 'Pending', ...before, reason: problems, ...badSpec(problems, before, now) };
}
