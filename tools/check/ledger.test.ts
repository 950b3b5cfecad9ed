import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import { ageOf, emptyLedger, type Ledger, noted, overdue, readLedger, repeatedFlakes, writeLedger } from './ledger.ts';

const known = ['lab: one', 'cluster: one', 'lab: two'];
const passed = (title: string, bed: Ending['bed'] = 'lab'): Ending => ({
  ...{ title, bed, outcome: 'passed' },
  ...{ wallSeconds: 10, cpuSeconds: 5 },
});

/** A check that was green, with these stories told. */
const check = (ledger: Ledger, commit: string, ...endings: readonly Ending[]): Ledger =>
  noted(ledger, { commit, endings, flakes: [], known, isGreen: true, suites: {} });

const checks = (count: number, ...endings: readonly Ending[]): Ledger =>
  Array.from({ length: count }).reduce<Ledger>(
    (ledger, _, index) => check(ledger, `c${index}`, ...endings),
    emptyLedger,
  );

describe('the ledger', () => {
  it('knows for how many landings a story was not told on a bed', () => {
    const ledger = check(checks(3, passed('one')), 'later');
    expect(ageOf(ledger, 'lab: one')).toBe(1);
    expect(ageOf(ledger, 'lab: two')).toBe(3);
  });

  it('counts a commit that was checked twice as one landing, and a red check as none', () => {
    const twice = check(check(emptyLedger, 'same'), 'same');
    const red = noted(twice, { commit: 'red', endings: [], flakes: [], known, isGreen: false, suites: {} });
    expect(red.landings).toEqual(['same']);
    expect(red.checks).toBe(3);
  });

  it('calls a story overdue that was not told on one bed for more than eight landings, though on the other', () => {
    expect(overdue(checks(9, passed('one'), passed('two')), known)).toEqual([]);
    expect(overdue(checks(10, passed('one'), passed('two')), known)).toEqual(['cluster: one']);
  });

  it('keeps no story that is gone, and takes no failure for a telling', () => {
    const before = check(emptyLedger, 'a', passed('gone'), { ...passed('two'), outcome: 'failed' });
    expect(Object.keys(before.stories)).toEqual([]);
    expect(Object.keys(before.firstSeen)).toEqual(known);
  });

  it('calls a story a repeated flake that waited in vain in this check and in one of the nineteen before', () => {
    const flaky = (ledger: Ledger): Ledger =>
      noted(ledger, { commit: 'x', endings: [], flakes: ['one'], known, isGreen: true, suites: {} });
    const rest = (ledger: Ledger, count: number): Ledger =>
      Array.from({ length: count }).reduce<Ledger>((each) => check(each, 'y'), ledger);
    const once = flaky(emptyLedger);
    expect(repeatedFlakes(once)).toEqual([]);
    expect(repeatedFlakes(rest(once, 1))).toEqual([]);
    expect(repeatedFlakes(flaky(rest(once, 18)))).toEqual(['one']);
    expect(repeatedFlakes(flaky(rest(once, 19)))).toEqual([]);
  });

  it('is read as it was written, and is empty where it cannot be read', () => {
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
