import { createHash } from 'node:crypto';
import { type Where, whyNotHere } from '../../test/support/place.ts';
import type { Declared } from '../../test/support/story-catalog.ts';
import { ageOf, type Bed, keyOf, type Ledger, oldest } from './ledger.ts';

/** One story on one bed. */
export interface Pair {
  readonly key: string;
  readonly title: string;
  readonly file: string;
  readonly bed: Bed;
  readonly where: Where;
  /** Whether the change reaches it. */
  readonly isTouched?: boolean;
}

/** All that `make check` tells by turns. What the lab shows as well as a cluster is told there; `make e2e-all` tells it on both. */
export const pairsOf = (stories: readonly Declared[]): readonly Pair[] =>
  stories.flatMap(({ title, file, where }) =>
    (['lab', 'cluster'] as const)
      .filter((bed) => whyNotHere(where, bed === 'lab' ? 'the lab' : 'our cluster') === undefined)
      .filter((bed) => bed === 'lab' || where !== 'as on the lab')
      .map((bed) => ({ key: keyOf(title, bed), title, file, bed, where })),
  );

export interface Circumstances {
  readonly ledger: Ledger;
  readonly commit: string;
  /** Told in every check. */
  readonly isCore: (pair: Pair) => boolean;
  /** Files of stories that the change reaches. */
  readonly touched: ReadonlySet<string>;
  /** Told by another part of this check already. */
  readonly isTold: (pair: Pair) => boolean;
  /** Of stories that differ in one value only, no more than so many have their turn in one check, besides those in the core. */
  readonly familyOf: (pair: Pair) => Family | undefined;
  /** What the stories of a bed may cost together, in processor seconds; core and overdue ones come before all. */
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

/** What a story is taken to cost that has not been told on this machine, in processor seconds. */
const unknownCost: Readonly<Record<Bed, number>> = { lab: 9, cluster: 18 };

/** A pair this old is as good as core: one landing later the check would be red. */
const pressing = oldest - 1;

/**
 * The turns of one bed: the fixed core and what is nearly too old; then what the change reaches, then the stalest first, as
 * long as there is room. A story with two beds has its turn on the staler one.
 */
export function choose(pairs: readonly Pair[], bed: Bed, circumstances: Circumstances): Choice {
  const { ledger, isCore, isTold, touched, cpuSeconds } = circumstances;
  const here = pairs.filter((pair) => pair.bed === bed && !isTold(pair));
  const core = here.filter((pair) => isCore(pair) || ageOf(ledger, pair.key) >= pressing);
  const rest = here.filter((pair) => !core.includes(pair) && isItsTurn(pair, pairs, circumstances));
  const marked = rest.map((pair) => ({ ...pair, isTouched: touched.has(pair.file) }));
  const ordered = marked.toSorted(
    (a, b) =>
      Number(b.isTouched) - Number(a.isTouched) ||
      stalest(a, b, circumstances) ||
      orderOf(a, circumstances.commit).localeCompare(orderOf(b, circumstances.commit)),
  );
  const room = cpuSeconds[bed] - core.reduce((total, pair) => total + costOf(pair, ledger), 0);
  return { core, others: fitting(ordered, room, circumstances) };
}

/** The first of these, as long as there is room. */
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

/** What was never told comes before all that was. */
const staleness = ({ key }: Pair, ledger: Ledger): number =>
  ledger.stories[key] === undefined ? Number.MAX_SAFE_INTEGER : ageOf(ledger, key);

/** With two beds, the staler one; where both are alike, the commit decides, so that they alternate. */
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
