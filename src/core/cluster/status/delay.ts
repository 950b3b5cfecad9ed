import type { Verdict } from '../plan/step.ts';

/** Adds the cause of a delay to the message of an upgrade. A delay in etcd is not a failure. */
export const delayed = (verdict: Verdict, by: string | undefined): Verdict =>
  by !== undefined && verdict.is === 'act' && verdict.reason === 'Upgrading'
    ? { ...verdict, message: `${verdict.message}: ${by}` }
    : verdict;
