import { isDeepStrictEqual } from 'node:util';
import type { KeyChange } from './operation.ts';
import { stateAt } from './watches.ts';

/** The keys of a cluster that was restored from a backup of this revision. */
export interface Restored {
  readonly revision: number;
  readonly state: Readonly<Record<string, string>>;
}

/**
 * A restored cluster has exactly the keys and values that the history has at one revision. The revision of a backup is read right
 * before its snapshot, so the snapshot may also have the writes of the moment between.
 */
export const restoreViolations = (restored: readonly Restored[], changes: readonly KeyChange[]): readonly string[] =>
  restored.flatMap(({ revision, state }) => {
    const later = changes.map((change) => change.revision).filter((each) => each > revision);
    const candidates = [revision, ...later.toSorted((a, b) => a - b).slice(0, mostBetween)];
    if (candidates.some((at) => isDeepStrictEqual(state, stateAt(changes, at)))) return [];
    const expected = JSON.stringify(stateAt(changes, revision));
    return [`from revision ${revision}: restored ${JSON.stringify(state)}, written ${expected}`];
  });

/** More writes than eight clients make while a snapshot begins. */
const mostBetween = 200;
