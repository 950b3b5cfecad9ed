import type { Ending } from '../../test/support/story-turns.ts';
import { type Ledger, overdue, repeatedFlakes, withResults } from './ledger.ts';
import type { Run } from './run.ts';

/** The ledger of earlier checks, and how to write the new one. */
export interface Memory {
  readonly ledger: Ledger;
  readonly commit: string;
  /** Every story on each of its beds. */
  readonly known: readonly string[];
  readonly write: (ledger: Ledger) => void;
}

/** The input hashes of green suites, by name. */
type Green = Record<string, string>;

/** Runs a check and writes its results to the ledger, also after a red gate or an error. */
export async function recordRun(run: Run, memory: Memory, work: (green: Green) => Promise<void>): Promise<void> {
  const green: Green = {};
  let isWhole = false;
  try {
    await work(green);
    isWhole = true;
  } finally {
    memory.write(ledgerAfter(run, memory, { green, isWhole }));
  }
}

/** The new ledger. Repeated flakes and overdue stories fail the check, which is then no landing. */
function ledgerAfter(
  run: Run,
  { ledger, commit, known }: Memory,
  { green, isWhole }: { readonly green: Green; readonly isWhole: boolean },
): Ledger {
  const after = (): Ledger =>
    withResults(ledger, {
      commit,
      known,
      endings: run.endings,
      flakes: run.flakes,
      suites: green,
      isGreen: isWhole && run.isGreen,
    });
  const first = after();
  run.fail(...repeatedFlakes(first).map((title) => `a flake twice in 20 checks: ${title}`));
  run.fail(...overdue(first, known).map((key) => `not run for more than 8 landings: ${key}`));
  return after();
}

/** Adds the stories of a nested run to this run. */
export function addStories({ endings, flakes }: Run, nested: readonly Ending[]): void {
  endings.push(...nested);
  flakes.push(...flakesIn(nested));
}

/** Stories that timed out and then passed. */
const flakesIn = (nested: readonly Ending[]): readonly string[] => {
  const waited = new Set<string>();
  return nested.flatMap(({ title, outcome }) => {
    if (outcome === 'waited') waited.add(title);
    return outcome === 'passed' && waited.delete(title) ? [title] : [];
  });
};
