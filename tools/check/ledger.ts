import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ending } from '../../test/support/story-turns.ts';
import { cacheDirectory } from '../lib/cache.ts';

export type Bed = Ending['bed'];

/** The last success of a story on a bed. */
export interface Entry {
  readonly commit: string;
  /** The number of landings at that time. */
  readonly landings: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** A story that timed out once and passed when it was run again. */
export interface Flake {
  readonly story: string;
  /** The number of the check. */
  readonly check: number;
}

/**
 * The results of earlier checks on this machine. A landing is a commit with a green check. The ledger affects the
 * choice of stories, not the result of any test. Without a ledger, the commit decides.
 */
export interface Ledger {
  readonly checks: number;
  /** Commits, oldest first. */
  readonly landings: readonly string[];
  readonly stories: Readonly<Record<string, Entry>>;
  /** The number of landings when a story was first seen on a bed. */
  readonly firstSeen: Readonly<Record<string, number>>;
  readonly flakes: readonly Flake[];
  /** The input hashes of green suites, by name. */
  readonly suites: Readonly<Record<string, string>>;
}

export const emptyLedger: Ledger = { checks: 0, landings: [], stories: {}, firstSeen: {}, flakes: [], suites: {} };

export const ledgerKey = (title: string, bed: Bed): string => `${bed}: ${title}`;

/** The number of landings since a story last passed on a bed, or since it was added. */
export function ageOf(ledger: Ledger, key: string): number {
  const since = ledger.stories[key]?.landings ?? ledger.firstSeen[key] ?? ledger.landings.length;
  return ledger.landings.length - since;
}

/** Every story runs on each of its beds at least once in so many landings. */
export const oldest = 8;

export const overdue = (ledger: Ledger, keys: readonly string[]): readonly string[] =>
  keys.filter((key) => ageOf(ledger, key) > oldest);

/** A story may be a flake once in so many checks. */
const flakeWindow = 20;

/** Stories that were a flake in this check and in a recent one. */
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

/** The results of a check. */
export interface CheckResults {
  readonly commit: string;
  readonly endings: readonly Ending[];
  readonly flakes: readonly string[];
  /** Every story on each of its beds. */
  readonly known: readonly string[];
  readonly isGreen: boolean;
  readonly suites: Readonly<Record<string, string>>;
}

export function withResults(ledger: Ledger, results: CheckResults): Ledger {
  const { commit, endings, known, isGreen } = results;
  const checks = ledger.checks + 1;
  const landings = isGreen && !ledger.landings.includes(commit) ? [...ledger.landings, commit] : ledger.landings;
  const passed = endings.filter(({ outcome }) => outcome === 'passed');
  const entries = passed.map(({ title, bed, wallSeconds, cpuSeconds }): [string, Entry] => [
    ledgerKey(title, bed),
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
      ...results.flakes.map((story) => ({ story, check: checks })),
    ],
    suites: { ...ledger.suites, ...results.suites },
  };
}

const ledgerFile = (): string => join(cacheDirectory(), 'ledger.json');

/** Reads the ledger. An unreadable ledger counts as empty. */
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
