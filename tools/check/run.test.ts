import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import { measured } from '../lib/measured.ts';
import type { SuiteResult } from '../lib/suites.ts';
import { beside } from './beside.ts';
import { emptyLedger, type Ledger } from './ledger.ts';
import { noteStories, noting } from './note-run.ts';
import { Run, Stopped } from './run.ts';
import { unlessGreen } from './unless-green.ts';

const directory = mkdtempSync(join(tmpdir(), 'run-'));
afterAll(() => rmSync(directory, { recursive: true }));

const begun = (isBudgeted = true): Run => new Run({ isBudgeted, slowness: 1, directory, say: () => {} });
const suite = 'real stores';
const result =
  (given: Partial<SuiteResult> = {}) =>
  async (): Promise<SuiteResult> => ({ passed: 3, failed: 0, wallSeconds: 9, cpuSeconds: 9, ...given });
const green = result();
const red = result({ failed: 1, failures: ['a test'] });
const dear = result({ cpuSeconds: 1_000_000 });
const fails = (): Promise<never> => Promise.reject(new Error('no kubectl'));
const failuresOf = ({ tally }: Run): readonly string[] => tally.failures ?? [];

describe('a run', () => {
  it('is green when all its suites are, and writes its tally as it goes', async () => {
    const run = begun();
    expect(run.isGreen).toBe(false);
    await run.suite(suite, green);
    expect(run.isGreen).toBe(true);
    expect(readFileSync(join(directory, 'tally'), 'utf8')).toBe('3 passed, 0 failed\n');
  });

  it('counts the error of a suite as a failure, and goes on', async () => {
    const run = begun();
    await run.suite(suite, fails);
    await run.suite(suite, green);
    expect(run.tally).toMatchObject({ passed: 3, failed: 1, failures: [`${suite}: no kubectl`] });
  });

  it('is red by a suite over its budget, except in the full run', async () => {
    for (const isBudgeted of [true, false]) {
      const run = begun(isBudgeted);
      expect((await run.suite(suite, dear)).isWithinBudget).toBe(!isBudgeted);
      expect(run.isGreen).toBe(!isBudgeted);
    }
  });

  it('is stopped by a red gate', async () => {
    await begun().gate(suite, green);
    await expect(begun().gate(suite, red)).rejects.toThrow(Stopped);
  });
});

describe('a suite whose inputs were hashed', () => {
  const sources = { tests: ['tools/lib/cache.test.ts'] };
  const hashAfter = async (work: typeof green): Promise<Record<string, string>> => {
    const hashes = { known: {}, green: {} };
    await unlessGreen(begun(), { name: suite, sources, run: work }, hashes);
    return hashes.green;
  };

  it('is skipped when it was green with the same inputs', async () => {
    const run = begun();
    await unlessGreen(run, { name: suite, sources, run: red }, { known: await hashAfter(green), green: {} });
    expect(run.tally).toMatchObject({ passed: 0, failed: 0 });
  });

  it('is run again when it was red, or over its budget', async () => {
    expect(Object.keys(await hashAfter(green))).toEqual([suite]);
    expect(await hashAfter(red)).toEqual({});
    expect(await hashAfter(dear)).toEqual({});
  });
});

describe('what a check writes down', () => {
  const ending = (title: string, outcome: Ending['outcome'] = 'passed'): Ending => ({
    ...{ title, outcome, bed: 'lab' },
    ...{ wallSeconds: 10, cpuSeconds: 5 },
  });
  const [commit, known] = ['new', ['lab: one', 'lab: two']];

  /** The ledger after a check that does this, and the run it was. */
  async function after(ledger: Ledger, work: (run: Run) => Promise<void>): Promise<readonly [Ledger, Run]> {
    const run = begun();
    let written: Ledger = emptyLedger;
    const memory = { ...{ ledger, commit, known }, write: (next: Ledger) => void (written = next) };
    await noting(run, memory, () => work(run)).catch(() => undefined);
    return [written, run];
  }
  const tells =
    (...endings: readonly Ending[]) =>
    async (run: Run): Promise<void> => {
      await run.suite(suite, green);
      noteStories(run, endings);
    };

  it('is a landing when the check is green', async () => {
    const [{ landings, stories }] = await after(emptyLedger, tells(ending('one')));
    expect(landings).toEqual(['new']);
    expect(Object.keys(stories)).toEqual(['lab: one']);
  });

  it('is no landing when a story is a flake for the second time', async () => {
    const ledger = { ...emptyLedger, checks: 3, flakes: [{ story: 'one', check: 2 }] };
    const [{ landings, flakes }, run] = await after(ledger, tells(ending('one', 'waited'), ending('one')));
    expect(failuresOf(run)).toEqual(['a flake twice in 20 checks: one']);
    expect(landings).toEqual([]);
    expect(flakes.at(-1)).toEqual({ story: 'one', check: 4 });
  });

  it('is no landing when a story was not told for too long', async () => {
    const landings = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const ledger = { ...emptyLedger, landings, firstSeen: { 'lab: one': 0, 'lab: two': 0 } };
    const [written, run] = await after(ledger, tells(ending('one')));
    expect(failuresOf(run)).toEqual(['not told for more than 8 landings: lab: two']);
    expect(written.landings).toEqual(landings);
  });

  it('has stories and flakes, and no landing, when a gate or an error stops the check', async () => {
    for (const stop of [(run: Run) => run.gate('the gate', red), fails]) {
      const [{ landings, stories, flakes }] = await after(emptyLedger, async (run) => {
        await tells(ending('one', 'waited'), ending('two'), ending('one'))(run);
        await stop(run);
      });
      expect(landings).toEqual([]);
      expect(Object.keys(stories).toSorted()).toEqual(known);
      expect(flakes).toEqual([{ story: 'one', check: 1 }]);
    }
  });

  it('has as flakes only stories that passed after they had waited in vain', () => {
    const run = begun();
    noteStories(run, [ending('one', 'waited'), ending('two', 'failed'), ending('two'), ending('three')]);
    expect(run.flakes).toEqual([]);
    expect(run.endings).toHaveLength(4);
  });
});

describe('what is prepared beside a gate', () => {
  const ready = Promise.resolve();

  it('lets the run go on when both end well', async () => {
    await beside(begun(), { name: 'preparing', ready }, Promise.resolve());
  });

  it('ends the programs of the gate when it fails, and stops the run', async () => {
    const run = begun();
    const gate = run.gate('sleeping', async () => {
      const { code, cpuSeconds, wallSeconds } = await measured('sleep', ['50']);
      return { ...(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }), cpuSeconds, wallSeconds };
    });
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('no network')), 300));
    await expect(beside(run, { name: 'preparing', ready: late }, gate)).rejects.toThrow('sleeping is red');
    expect(failuresOf(run)).toContain('preparing: no network');
    expect(run.seconds).toBeLessThan(40);
  });

  it('stops the run when it fails after the gate', async () => {
    const run = begun();
    await expect(beside(run, { name: 'preparing', ready: fails() }, Promise.resolve())).rejects.toThrow(Stopped);
  });
});
