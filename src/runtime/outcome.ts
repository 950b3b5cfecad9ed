import type { Failure } from '../std/failure.ts';

/** What a pass says to the queue. There is no fourth way: no flags, no sentinel errors, no nulls. */
export type Outcome =
  | { readonly is: 'done' }
  | { readonly is: 'again'; readonly afterSeconds: number }
  | { readonly is: 'failed'; readonly failure: Failure };

/** Nothing more to do until something happens. */
export const done: Outcome = { is: 'done' };

/** All is well, but look again after a while, for what cannot be watched. */
export const again = (afterSeconds: number): Outcome => ({ is: 'again', afterSeconds });

export const failed = (failure: Failure): Outcome => ({ is: 'failed', failure });
