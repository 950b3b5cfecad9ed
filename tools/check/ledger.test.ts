import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import {
  ageOf,
  emptyLedger,
  type Ledger,
  overdue,
  readLedger,
  repeatedFlakes,
  withResults,
  writeLedger,
} from './ledger.ts';

const known = ['lab: one', 'cluster: one', 'lab: two'];
const passed = (title: string, bed: Ending['bed'] = 'lab'): Ending => ({
  title,
  bed,
  outcome: 'passed',
  wallSeconds: 10,
  cpuSeconds: 5,
});

/** A green check with these stories. */
const check = (ledger: Ledger, commit: string, ...endings: readonly Ending[]): Ledger =>
  withResults(ledger, { commit, endings, flakes: [], known, isGreen: true, suites: {} });

const checks = (count: number, ...endings: readonly Ending[]): Ledger =>
  Array.from({ length: count }).reduce<Ledger>(
    (ledger, _, index) => check(ledger, `c${index}`, ...endings),
    emptyLedger,
  );

describe('the ledger', () => {
  it('counts the landings since a story last ran on a bed', () => {
    const ledger = check(checks(3, passed('one')), 'later');
    expect(ageOf(ledger, 'lab: one')).toBe(1);
    expect(ageOf(ledger, 'lab: two')).toBe(3);
  });

  it('counts a commit checked twice as one landing, and a red check as none', () => {
    const twice = check(check(emptyLedger, 'same'), 'same');
    const red = withResults(twice, { commit: 'red', endings: [], flakes: [], known, isGreen: false, suites: {} });
    expect(red.landings).toEqual(['same']);
    expect(red.checks).toBe(3);
  });

  it('reports a story as overdue after eight landings without it on one bed, even if it ran on the other', () => {
    expect(overdue(checks(9, passed('one'), passed('two')), known)).toEqual([]);
    expect(overdue(checks(10, passed('one'), passed('two')), known)).toEqual(['cluster: one']);
  });

  it('drops removed stories, and does not count a failed story as run', () => {
    const before = check(emptyLedger, 'a', passed('gone'), { ...passed('two'), outcome: 'failed' });
    expect(Object.keys(before.stories)).toEqual([]);
    expect(Object.keys(before.firstSeen)).toEqual(known);
  });

  it('reports a repeated flake if a story was a flake in this check and in one of the nineteen before', () => {
    const flaky = (ledger: Ledger): Ledger =>
      withResults(ledger, { commit: 'x', endings: [], flakes: ['one'], known, isGreen: true, suites: {} });
    const rest = (ledger: Ledger, count: number): Ledger =>
      Array.from({ length: count }).reduce<Ledger>((each) => check(each, 'y'), ledger);
    const once = flaky(emptyLedger);
    expect(repeatedFlakes(once)).toEqual([]);
    expect(repeatedFlakes(rest(once, 1))).toEqual([]);
    expect(repeatedFlakes(flaky(rest(once, 18)))).toEqual(['one']);
    expect(repeatedFlakes(flaky(rest(once, 19)))).toEqual([]);
  });

  it('is read as written, and is empty if unreadable', () => {
    const directory = mkdtempSync(join(tmpdir(), 'ledger-'));
    const file = join(directory, 'ledger.json');
    const ledger = check(emptyLedger, 'a', passed('one'));
    writeLedger(ledger, file);
    expect(readLedger(file)).toEqual(ledger);
    writeFileSync(file, '{ cut o');
    expect(readLedger(file)).toEqual(emptyLedger);
    rmSync(directory, { recursive: true });
  });
});
