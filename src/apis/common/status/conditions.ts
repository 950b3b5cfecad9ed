import { z } from 'zod';
import type { Reason } from '../../../core/reasons.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

type Before = readonly Pick<Condition, 'type' | 'status'>[];

type OwnCondition = Pick<Condition, 'type' | 'status'> & { readonly reason: Reason; readonly message: string };

/** The conditions of a cluster with an invalid spec. The operator does not observe it, so Available becomes Unknown. */
export const conditionsOfProblems = (problems: string, before: Before): readonly OwnCondition[] =>
  conditionsOfUnknown(
    { reason: 'BadSpec', why: problems, message: 'the cluster is not observed until the spec is corrected' },
    before,
  );

/** The conditions of a cluster that could not be observed. */
export const conditionsOfUnobserved = (why: string, before: Before): readonly OwnCondition[] =>
  conditionsOfUnknown({ reason: 'StepFailed', why: `${unobserved}: ${why}`, message: unobserved }, before);

const unobserved = 'the operator cannot observe the cluster';

interface Unobserved {
  readonly reason: Reason;
  readonly why: string;
  /** The message of the condition Available. */
  readonly message: string;
}

function conditionsOfUnknown({ reason, why, message }: Unobserved, before: Before): readonly OwnCondition[] {
  const wasAvailable = before.some(({ type, status }) => type === 'Available' && status !== 'False');
  return [
    ...(wasAvailable ? [{ type: 'Available', status: 'Unknown', reason, message } as const] : []),
    { type: 'Degraded', status: 'True', reason, message: why },
  ];
}

/** Adds times to conditions. Times change only with the content of a condition. */
export const mergeConditions = <C extends Condition>(
  conditions: readonly NewCondition[],
  before: readonly C[],
  now: Date,
): C[] =>
  conditions.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    const same =
      old?.status === condition.status && old.reason === condition.reason && old.message === condition.message;
    if (same) return old;
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
    return { ...condition, lastUpdateTime: time, lastTransitionTime } as C;
  });

const blockedReasons: ReadonlySet<string | undefined> = new Set<Reason>(['BackupBlocked', 'BadSpec']);

/** True if a backup cannot start, for now or because its spec is invalid. */
export const isBackupBlocked = (conditions: readonly Pick<NewCondition, 'type' | 'reason'>[] = []): boolean =>
  conditions.some(({ type, reason }) => type === 'Progressing' && blockedReasons.has(reason));

/**
 * A lenient schema for stored status, which may be from an older operator or edited by hand. Invalid fields are
 * dropped: the operator rewrites the status, and an invalid status must never stop the reconciliation of a resource.
 */
export const lenient = <F extends Readonly<Record<string, z.ZodType>>>(
  fields: F,
): z.ZodType<{ [K in keyof F]?: z.output<F[K]> | undefined }> =>
  z
    .object(
      Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.optional().catch(undefined)])),
    )
    .catch({}) as unknown as z.ZodType<{ [K in keyof F]?: z.output<F[K]> | undefined }>;
