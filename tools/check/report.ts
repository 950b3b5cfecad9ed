import type { Ending } from '../../test/support/story-turns.ts';
import { plainLine, type Tally } from '../lib/suites.ts';
import type { Pair } from './choose.ts';

/** A suite that has ended. */
export interface Line {
  readonly name: string;
  readonly tally: Tally;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** The number of stories, in a suite of stories. */
  readonly stories?: number;
}

export interface RunResult {
  readonly lines: readonly Line[];
  readonly skipped: readonly string[];
  readonly endings: readonly Ending[];
  readonly flakes: readonly string[];
  readonly leftOut: readonly Pair[];
  readonly tally: Tally;
  readonly seconds: number;
  readonly slowness: number;
  /** The reason of an early end. */
  readonly reason?: string;
}

const seconds = (value: number): string => value.toFixed(1).padStart(7);

export const lineOf = ({ name, tally, wallSeconds, cpuSeconds }: Line): string =>
  `${seconds(wallSeconds)} s wall ${seconds(cpuSeconds)} CPU-s  ${name}: ${plainLine(tally)}`;

const mostExpensive = 20;
/** The most failures in the report, so that it fits a terminal. All are in the JSON reports. */
const failuresShown = 30;

/** The report of a run: costs, failures, and the tally as the last line. */
export function runReport(ended: RunResult): string {
  const { lines, skipped, endings, flakes, leftOut, tally, reason } = ended;
  const expensive = endings
    .toSorted((a, b) => b.cpuSeconds - a.cpuSeconds)
    .slice(0, mostExpensive)
    .map((each) => `${seconds(each.wallSeconds)} s wall ${seconds(each.cpuSeconds)} CPU-s  ${each.bed}: ${each.title}`);
  return [
    '',
    ...(expensive.length > 0 ? ['The most expensive stories:', ...expensive, ''] : []),
    ...lines.map(lineOf),
    ...skipped,
    `${seconds(ended.seconds)} s wall in all, on a machine ${ended.slowness.toFixed(2)} times as slow as the reference`,
    '',
    ...leftOutLines(leftOut),
    ...flakes.map((title) => `flake: timed out once, passed when run again: ${title}`),
    ...failureLines(tally),
    ...(reason === undefined ? [] : [reason]),
    plainLine(tally),
    '',
  ].join('\n');
}

/** Affected stories come first. */
const leftOutLines = (pairs: readonly Pair[]): readonly string[] =>
  pairs
    .toSorted((a, b) => Number(b.isTouched ?? false) - Number(a.isTouched ?? false))
    .map(
      ({ key, isTouched }) => `not run or not finished: ${key}${isTouched === true ? ' (affected by the change)' : ''}`,
    );

function failureLines({ failures = [], failed }: Tally): readonly string[] {
  if (failed === 0) return [];
  const shown = failures.slice(0, failuresShown).map((failure) => `failed: ${failure}`);
  const more = failures.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`… and ${more} more`] : []),
    'Evidence: test-results/ (one directory per story, one *.json per suite).',
  ];
}
