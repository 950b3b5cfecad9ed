import type { Verdict } from '../plan/cluster/step.ts';

/** An upgrade can be held up for long by what is no failure: what etcd waits for is told beside what is being done. */
export const delayed = (verdict: Verdict, by: string | undefined): Verdict =>
  by !== undefined && verdict.is === 'act' && verdict.reason === 'Upgrading'
    ? { ...verdict, message: `${verdict.message}: ${by}` }
    : verdict;
