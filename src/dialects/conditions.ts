import { z } from 'zod';
import type { Reason } from '../core/reasons.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

export type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

type Before = readonly Pick<Condition, 'type' | 'status'>[];

type SaidOfOurs = Pick<Condition, 'type' | 'status'> & { readonly reason: Reason; readonly message: string };

/** Nobody looks at a cluster whose spec cannot be read: that it was available when somebody last did is no longer known. */
export const saidOfProblems = (problems: string, before: Before): readonly SaidOfOurs[] =>
  saidUnseen({ reason: 'BadSpec', why: problems, message: 'the spec has to be corrected first' }, before);

/** The same of a cluster that could not be looked at. */
export const saidOfUnobserved = (why: string, before: Before): readonly SaidOfOurs[] =>
  saidUnseen({ reason: 'StepFailed', why: `${unobserved}: ${why}`, message: unobserved }, before);

const unobserved = 'the operator cannot observe the cluster';

interface Unseen {
  readonly reason: Reason;
  readonly why: string;
  /** Why it is not known whether the cluster is available. */
  readonly message: string;
}

function saidUnseen({ reason, why, message }: Unseen, before: Before): readonly SaidOfOurs[] {
  const wasAvailable = before.some(({ type, status }) => type === 'Available' && status !== 'False');
  return [
    ...(wasAvailable ? [{ type: 'Available', status: 'Unknown', reason, message } as const] : []),
    { type: 'Degraded', status: 'True', reason, message: why },
  ];
}

/** Times change only with what they are the times of. */
export const merged = <C extends Condition>(said: readonly Said[], before: readonly C[], now: Date): C[] =>
  said.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    const same =
      old?.status === condition.status && old.reason === condition.reason && old.message === condition.message;
    if (same) return old;
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
    return { ...condition, lastUpdateTime: time, lastTransitionTime } as C;
  });

const heldUp: ReadonlySet<string | undefined> = new Set<Reason>(['BackupBlocked', 'BadSpec']);

/** Whether a backup cannot begin, for now or as it is written. */
export const isHeldUp = (conditions: readonly Pick<Said, 'type' | 'reason'>[] = []): boolean =>
  conditions.some(({ type, reason }) => type === 'Progressing' && heldUp.has(reason));

/**
 * Status as it may be found: written by an older operator, or by hand. A field that makes no sense is as good as absent,
 * because status is ours to write again and must never keep a resource from being looked after.
 */
export const found = <F extends Readonly<Record<string, z.ZodType>>>(
  fields: F,
): z.ZodType<{ [K in keyof F]?: z.output<F[K]> | undefined }> =>
  z
    .object(
      Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.optional().catch(undefined)])),
    )
    .catch({}) as unknown as z.ZodType<{ [K in keyof F]?: z.output<F[K]> | undefined }>;
