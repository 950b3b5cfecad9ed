import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import { until } from '../../test/support/until.ts';
import { measured } from '../lib/measured.ts';
import type { SuiteResult } from '../lib/suites.ts';
import { beside } from './beside.ts';
import { emptyLedger, type Ledger } from './ledger.ts';
import { addStories, recordRun } from './record-run.ts';
import { Run, Stopped } from './run.ts';
import { unlessGreen } from './unless-green.ts';

const directory = mkdtempSync(join(tmpdir(), 'run-'));
afterAll(() => rmSync(directory, { recursive: true }));

const begun = (isBudgeted = true): Run => new Run({ isBudgeted, slowness: 1, directory, print: () => {} });
const suite = 'real stores';
const result =
  (given: Partial<SuiteResult> = {}) =>
  async (): Promise<SuiteResult> => ({ passed: 3, failed: 0, wallSeconds: 9, cpuSeconds: 9, ...given });
const green = result();
const red = result({ failed: 1, failures: ['a test'] });
const expensive = result({ cpuSeconds: 1_000_000 });
const fails = (): Promise<never> => Promise.reject(new Error('no kubectl'));
const failuresOf = ({ tally }: Run): readonly string[] => tally.failures ?? [];

describe('a run', () => {
  it('is green if all its suites are, and writes its tally after each suite', async () => {
    const run = begun();
    expect(run.isGreen).toBe(false);
    await run.suite(suite, green);
    expect(run.isGreen).toBe(true);
    expect(readFileSync(join(directory, 'tally'), 'utf8')).toBe('3 passed, 0 failed\n');
  });

  it('counts an error of a suite as a failure, and continues', async () => {
    const run = begun();
    await run.suite(suite, fails);
    await run.suite(suite, green);
    expect(run.tally).toMatchObject({ passed: 3, failed: 1, failures: [`${suite}: no kubectl`] });
  });

  it('is red if a suite exceeds its budget, except in the full run', async () => {
    for (const isBudgeted of [true, false]) {
      const run = begun(isBudgeted);
      expect((await run.suite(suite, expensive)).isWithinBudget).toBe(!isBudgeted);
      expect(run.isGreen).toBe(!isBudgeted);
    }
  });

  it('stops at a red gate', async () => {
    await begun().gate(suite, green);
    await expect(begun().gate(suite, red)).rejects.toThrow(Stopped);
  });
});

describe('a skippable suite', () => {
  const sources = { tests: ['tools/lib/cache.test.ts'] };
  const hashAfter = async (work: typeof green): Promise<Record<string, string>> => {
    const hashes = { known: {}, green: {} };
    await unlessGreen(begun(), { name: suite, sources, run: work }, hashes);
    return hashes.green;
  };

  it('is skipped if it was green with the same inputs', async () => {
    const run = begun();
    await unlessGreen(run, { name: suite, sources, run: red }, { known: await hashAfter(green), green: {} });
    expect(run.tally).toMatchObject({ passed: 0, failed: 0 });
  });

  it('runs again if it was red or over its budget', async () => {
    expect(Object.keys(await hashAfter(green))).toEqual([suite]);
    expect(await hashAfter(red)).toEqual({});
    expect(await hashAfter(expensive)).toEqual({});
  });
});

describe('the ledger after a check', () => {
  const ending = (title: string, outcome: Ending['outcome'] = 'passed'): Ending => ({
    title,
    outcome,
    bed: 'lab',
    wallSeconds: 10,
    cpuSeconds: 5,
  });
  const [commit, known] = ['new', ['lab: one', 'lab: two']];

  /** The ledger after a check with this work, and its run. */
  async function after(ledger: Ledger, work: (run: Run) => Promise<void>): Promise<readonly [Ledger, Run]> {
    const run = begun();
    let written: Ledger = emptyLedger;
    const memory = { ...{ ledger, commit, known }, write: (next: Ledger) => void (written = next) };
    await recordRun(run, memory, () => work(run)).catch(() => undefined);
    return [written, run];
  }
  const runs =
    (...endings: readonly Ending[]) =>
    async (run: Run): Promise<void> => {
      await run.suite(suite, green);
      addStories(run, endings);
    };

  it('has a new landing if the check is green', async () => {
    const [{ landings, stories }] = await after(emptyLedger, runs(ending('one')));
    expect(landings).toEqual(['new']);
    expect(Object.keys(stories)).toEqual(['lab: one']);
  });

  it('has no new landing if a story is a flake for the second time', async () => {
    const ledger = { ...emptyLedger, checks: 3, flakes: [{ story: 'one', check: 2 }] };
    const [{ landings, flakes }, run] = await after(ledger, runs(ending('one', 'waited'), ending('one')));
    expect(failuresOf(run)).toEqual(['a flake twice in 20 checks: one']);
    expect(landings).toEqual([]);
    expect(flakes.at(-1)).toEqual({ story: 'one', check: 4 });
  });

  it('has no new landing if a story is overdue', async () => {
    const landings = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const ledger = { ...emptyLedger, landings, firstSeen: { 'lab: one': 0, 'lab: two': 0 } };
    const [written, run] = await after(ledger, runs(ending('one')));
    expect(failuresOf(run)).toEqual(['not run for more than 8 landings: lab: two']);
    expect(written.landings).toEqual(landings);
  });

  it('has stories and flakes, but no new landing, if a gate or an error stops the check', async () => {
    for (const stop of [(run: Run) => run.gate('the gate', red), fails]) {
      const [{ landings, stories, flakes }] = await after(emptyLedger, async (run) => {
        await runs(ending('one', 'waited'), ending('two'), ending('one'))(run);
        await stop(run);
      });
      expect(landings).toEqual([]);
      expect(Object.keys(stories).toSorted()).toEqual(known);
      expect(flakes).toEqual([{ story: 'one', check: 1 }]);
    }
  });

  it('lists a story as a flake only if it passed after a time-out', () => {
    const run = begun();
    addStories(run, [ending('one', 'waited'), ending('two', 'failed'), ending('two'), ending('three')]);
    expect(run.flakes).toEqual([]);
    expect(run.endings).toHaveLength(4);
  });
});

describe('a preparation beside a gate', () => {
  const ready = Promise.resolve();

  it('lets the run continue if both succeed', async () => {
    await beside(begun(), { name: 'preparing', ready }, Promise.resolve());
  });

  it('kills the programs of the gate if it fails, and stops the run', async () => {
    const run = begun();
    const begunFile = join(directory, 'begun');
    const gate = run.gate('sleeping', async () => {
      const { code, cpuSeconds, wallSeconds } = await measured('sh', ['-c', `: > ${begunFile}; sleep 50`]);
      return { ...(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }), cpuSeconds, wallSeconds };
    });
    const begins = until('the program of the gate runs', async () => existsSync(begunFile) || undefined);
    const late = begins.then(() => Promise.reject(new Error('no network')));
    await expect(beside(run, { name: 'preparing', ready: late }, gate)).rejects.toThrow('sleeping failed');
    expect(failuresOf(run)).toContain('preparing: no network');
    expect(run.seconds).toBeLessThan(40);
  });

  it('stops the run if it fails after the gate', async () => {
    const run = begun();
    await expect(beside(run, { name: 'preparing', ready: fails() }, Promise.resolve())).rejects.toThrow(Stopped);
  });
});
