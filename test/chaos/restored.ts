import { isDeepStrictEqual } from 'node:util';
import type { KeyChange } from './operation.ts';
import { stateAt } from './watches.ts';

/** The keys of a cluster that was restored from a backup of this revision. */
export interface Restored {
  readonly revision: number;
  readonly state: Readonly<Record<string, string>>;
}

/** A restored cluster has exactly the keys and values that the history has at the revision of its backup. */
export const restoreViolations = (restored: readonly Restored[], changes: readonly KeyChange[]): readonly string[] =>
  restored.flatMap(({ revision, state }) => {
    const expected = stateAt(changes, revision);
    if (isDeepStrictEqual(state, expected)) return [];
    return [`at revision ${revision}: restored ${JSON.stringify(state)}, written ${JSON.stringify(expected)}`];
  });
