import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ending } from '../../test/support/story-turns.ts';
import { cacheDirectory } from '../lib/cache.ts';

export type Bed = Ending['bed'];

/** The last good end of one story on one bed. */
export interface Entry {
  readonly commit: string;
  /** How many landings the ledger had seen then. */
  readonly landings: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** A story that waited in vain once and passed when it was told again. */
export interface Flake {
  readonly story: string;
  /** The number of the check it happened in. */
  readonly check: number;
}

/**
 * What earlier checks on this machine have shown. A landing is a commit on which a whole check was green. Nothing depends on
 * the ledger for its verdict but the choice of stories: without one, the commit decides.
 */
export interface Ledger {
  readonly checks: number;
  /** Commits, oldest first. */
  readonly landings: readonly string[];
  readonly stories: Readonly<Record<string, Entry>>;
  /** The number of landings when a story was first seen on a bed. */
  readonly firstSeen: Readonly<Record<string, number>>;
  readonly flakes: readonly Flake[];
  /** Suites that were green, by the hash of all that goes into them. */
  readonly suites: Readonly<Record<string, string>>;
}

export const emptyLedger: Ledger = { checks: 0, landings: [], stories: {}, firstSeen: {}, flakes: [], suites: {} };

export const keyOf = (title: string, bed: Bed): string => `${bed}: ${title}`;

/** How many landings ago a story was last seen to pass on a bed, or was first heard of. */
export function ageOf(ledger: Ledger, key: string): number {
  const since = ledger.stories[key]?.landings ?? ledger.firstSeen[key] ?? ledger.landings.length;
  return ledger.landings.length - since;
}

/** Every story is told on each of its beds at least once in so many landings. */
export const oldest = 8;

export const overdue = (ledger: Ledger, keys: readonly string[]): readonly string[] =>
  keys.filter((key) => ageOf(ledger, key) > oldest);

/** In how many checks a story may be a flake once. */
const flakeWindow = 20;

/** Stories that were a flake in this check, and in one not long before it. */
export const repeatedFlakes = ({ flakes, checks }: Ledger): readonly string[] => {
  const recent = flakes.filter(({ check }) => check > checks - flakeWindow);
  return [
    ...new Set(
      recent
        .filter(
          ({ story, check }) => check === checks && recent.some((one) => one.story === story && one.check < checks),
        )
        .map(({ story }) => story),
    ),
  ];
};

/** What a check has shown, as it ends. */
export interface Shown {
  readonly commit: string;
  readonly endings: readonly Ending[];
  readonly flakes: readonly string[];
  /** Every story on each of its beds. */
  readonly known: readonly string[];
  readonly isGreen: boolean;
  readonly suites: Readonly<Record<string, string>>;
}

export function noted(ledger: Ledger, shown: Shown): Ledger {
  const { commit, endings, known, isGreen } = shown;
  const checks = ledger.checks + 1;
  const landings = isGreen && !ledger.landings.includes(commit) ? [...ledger.landings, commit] : ledger.landings;
  const passed = endings.filter(({ outcome }) => outcome === 'passed');
  const entries = passed.map(({ title, bed, wallSeconds, cpuSeconds }): [string, Entry] => [
    keyOf(title, bed),
    { commit, landings: landings.length, wallSeconds, cpuSeconds },
  ]);
  const kept = new Set(known);
  const only = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([key]) => kept.has(key)));
  return {
    checks,
    landings,
    stories: only({ ...ledger.stories, ...Object.fromEntries(entries) }),
    firstSeen: only({ ...Object.fromEntries(known.map((key) => [key, landings.length])), ...ledger.firstSeen }),
    flakes: [
      ...ledger.flakes.filter(({ check }) => check > checks - flakeWindow),
      ...shown.flakes.map((story) => ({ story, check: checks })),
    ],
    suites: { ...ledger.suites, ...shown.suites },
  };
}

const ledgerFile = (): string => join(cacheDirectory(), 'ledger.json');

/** A ledger that cannot be read is an empty one: it is only a memory. */
export function readLedger(file = ledgerFile()): Ledger {
  try {
    return existsSync(file) ? { ...emptyLedger, ...(JSON.parse(readFileSync(file, 'utf8')) as Ledger) } : emptyLedger;
  } catch {
    return emptyLedger;
  }
}

export function writeLedger(ledger: Ledger, file = ledgerFile()): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(ledger, undefined, 1)}\n`);
  renameSync(`${file}.new`, file);
}
