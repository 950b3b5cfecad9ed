import { createHash } from 'node:crypto';
import { skipReasonIn, type Where } from '../../test/support/place.ts';
import type { Declared } from '../../test/support/story-catalog.ts';
import { ageOf, type Bed, type Ledger, ledgerKey, oldest } from './ledger.ts';

/** One story on one bed. */
export interface Pair {
  readonly key: string;
  readonly title: string;
  readonly file: string;
  readonly bed: Bed;
  readonly where: Where;
  /** True if the change may affect the story. */
  readonly isTouched?: boolean;
}

/**
 * The stories that `make check` runs in turns. Stories that need no cluster run on the lab only; `make e2e-all` runs
 * all on both.
 */
export const pairsOf = (stories: readonly Declared[]): readonly Pair[] =>
  stories.flatMap(({ title, file, where }) =>
    (['lab', 'cluster'] as const)
      .filter((bed) => skipReasonIn(where, bed === 'lab' ? 'the lab' : 'our cluster') === undefined)
      .filter((bed) => bed === 'lab' || where !== 'as on the lab')
      .map((bed) => ({ key: ledgerKey(title, bed), title, file, bed, where })),
  );

export interface Circumstances {
  readonly ledger: Ledger;
  readonly commit: string;
  /** True for stories that run in every check. */
  readonly isCore: (pair: Pair) => boolean;
  /** Story files that the change may affect. */
  readonly touched: ReadonlySet<string>;
  /** True if another part of this check has run the story. */
  readonly isDone: (pair: Pair) => boolean;
  /**
   * The family of stories that differ in one value only. A check runs a limited number of a family, besides the core.
   */
  readonly familyOf: (pair: Pair) => Family | undefined;
  /** The CPU seconds for the stories of a bed. Core and overdue stories run first. */
  readonly cpuSeconds: Readonly<Record<Bed, number>>;
}

export interface Family {
  readonly name: string;
  readonly atOnce: number;
}

export interface Choice {
  readonly core: readonly Pair[];
  readonly others: readonly Pair[];
}

/** The assumed CPU seconds of a story that has not run on this machine. */
const unknownCost: Readonly<Record<Bed, number>> = { lab: 9, cluster: 18 };

/** A pair this old always runs: one landing later it would be overdue and fail the check. */
const pressing = oldest - 1;

/**
 * Chooses the stories of one bed: the core and nearly overdue stories; then affected stories; then the stalest, while
 * the CPU budget lasts. A story with two beds runs on the staler one.
 */
export function choose(pairs: readonly Pair[], bed: Bed, circumstances: Circumstances): Choice {
  const { ledger, isCore, isDone, touched, cpuSeconds } = circumstances;
  const here = pairs.filter((pair) => pair.bed === bed && !isDone(pair));
  const core = here.filter((pair) => isCore(pair) || ageOf(ledger, pair.key) >= pressing);
  const rest = here.filter((pair) => !core.includes(pair) && isItsTurn(pair, pairs, circumstances));
  const flagged = rest.map((pair) => ({ ...pair, isTouched: touched.has(pair.file) }));
  const ordered = flagged.toSorted(
    (a, b) =>
      Number(b.isTouched) - Number(a.isTouched) ||
      stalest(a, b, circumstances) ||
      orderOf(a, circumstances.commit).localeCompare(orderOf(b, circumstances.commit)),
  );
  const room = cpuSeconds[bed] - core.reduce((total, pair) => total + costOf(pair, ledger), 0);
  return { core, others: fitting(ordered, room, circumstances) };
}

/** The first stories that fit the budget. */
function fitting(ordered: readonly Pair[], space: number, { ledger, familyOf }: Circumstances): readonly Pair[] {
  let room = space;
  const counts = new Map<string, number>();
  return ordered.filter((pair) => {
    const [cost, family] = [costOf(pair, ledger), familyOf(pair)];
    const count = counts.get(family?.name ?? '') ?? 0;
    if (cost > room || (family !== undefined && count >= family.atOnce)) return false;
    room -= cost;
    if (family !== undefined) counts.set(family.name, count + 1);
    return true;
  });
}

const costOf = ({ key, bed }: Pair, { stories }: Ledger): number => stories[key]?.cpuSeconds ?? unknownCost[bed];

const stalest = (a: Pair, b: Pair, { ledger }: Circumstances): number => staleness(b, ledger) - staleness(a, ledger);

/** The age in landings. A story that never ran is the stalest. */
const staleness = ({ key }: Pair, ledger: Ledger): number =>
  ledger.stories[key] === undefined ? Number.MAX_SAFE_INTEGER : ageOf(ledger, key);

/** True if the story runs on this bed. Of two beds the staler one counts; on a tie, the commit decides. */
function isItsTurn(pair: Pair, pairs: readonly Pair[], { ledger, commit }: Circumstances): boolean {
  const other = pairs.find(({ title, bed }) => title === pair.title && bed !== pair.bed);
  if (other === undefined) return true;
  const difference = staleness(pair, ledger) - staleness(other, ledger);
  if (difference !== 0) return difference > 0;
  const isEven = Number.parseInt(digest(`${commit} ${pair.title}`).slice(0, 8), 16) % 2 === 0;
  return (pair.bed === 'lab') === isEven;
}

const orderOf = ({ key }: Pair, commit: string): string => digest(`${commit} ${key}`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
