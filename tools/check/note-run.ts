import type { Ending } from '../../test/support/story-turns.ts';
import { type Ledger, noted, overdue, repeatedFlakes } from './ledger.ts';
import type { Run } from './run.ts';

/** What a check knows of earlier ones, and where it writes down what it has shown itself. */
export interface Memory {
  readonly ledger: Ledger;
  readonly commit: string;
  /** Every story on each of its beds. */
  readonly known: readonly string[];
  readonly write: (ledger: Ledger) => void;
}

/** Hashes of the inputs of suites that were green, by the name of the suite. */
type Green = Record<string, string>;

/** Does the work of a check and writes down what it has shown, also when a red gate or an error stops it. */
export async function noting(run: Run, memory: Memory, work: (green: Green) => Promise<void>): Promise<void> {
  const green: Green = {};
  let isWhole = false;
  try {
    await work(green);
    isWhole = true;
  } finally {
    memory.write(ledgerAfter(run, memory, { green, isWhole }));
  }
}

/** A check that its own findings make red is no landing. */
function ledgerAfter(
  run: Run,
  { ledger, commit, known }: Memory,
  { green, isWhole }: { readonly green: Green; readonly isWhole: boolean },
): Ledger {
  const after = (): Ledger =>
    noted(ledger, {
      ...{ commit, known, endings: run.endings, flakes: run.flakes, suites: green },
      isGreen: isWhole && run.isGreen,
    });
  const first = after();
  run.fail(...repeatedFlakes(first).map((title) => `a flake twice in 20 checks: ${title}`));
  run.fail(...overdue(first, known).map((key) => `not told for more than 8 landings: ${key}`));
  return after();
}

/** Notes the stories that were told in another run, as part of this one. */
export function noteStories({ endings, flakes }: Run, told: readonly Ending[]): void {
  endings.push(...told);
  flakes.push(...flakesIn(told));
}

/** Stories that waited in vain and then passed. */
const flakesIn = (told: readonly Ending[]): readonly string[] => {
  const waited = new Set<string>();
  return told.flatMap(({ title, outcome }) => {
    if (outcome === 'waited') waited.add(title);
    return outcome === 'passed' && waited.delete(title) ? [title] : [];
  });
};
