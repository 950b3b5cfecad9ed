import { z } from 'zod';
import type { RestorePhase } from '../../core/model/restore.ts';
import { found } from '../conditions.ts';
import type { RestoreFindings } from '../restore-dialect.ts';
import {
  badSpec,
  commonStatus,
  phaseOfStage,
  reasonOf,
  restoreFields,
  saysOfStages,
  stageOf,
  stages,
} from '../restore-status.ts';
import { text } from '../rule.ts';

const fields = {
  phase: z.enum(['Pending', 'Completed', 'Failed']).describe('Pending: it is under way or held up.'),
  stage: z.enum(stages).describe(saysOfStages),
  reason: text(32_768).describe('Why it failed, or what holds it up.'),
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

/** The original knows no stages, and does nothing for a restore that is over. */
export function phaseIn({ phase, stage }: EtcdRestoreStatus): RestorePhase {
  if (stage !== undefined) return phaseOfStage(stage);
  if (phase === 'Completed') return 'complete';
  return phase === 'Failed' ? 'failed' : 'proving';
}

export function writeRestoreProblems(problems: string, previous: unknown, now: Date): EtcdRestoreStatus {
  const before = foundRestoreStatus.parse(previous ?? {});
  return { phase: 'Pending', ...before, reason: problems, ...badSpec(problems, before, now) };
}
