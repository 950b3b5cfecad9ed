import { describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import type { SuiteResult } from '../lib/suites.ts';
import type { Choice, Pair } from './choose.ts';
import { emptyLedger } from './ledger.ts';
import { type StoriesResult, suiteOf, type Telling, tellStories, turnsOf } from './tell-stories.ts';

const pair = (title: string): Pair => ({
  ...{ title, key: `lab: ${title}`, file: `${title}.e2e.ts` },
  ...{ bed: 'lab', where: 'everywhere' },
});
const ending = (title: string, outcome: Ending['outcome']): Ending => ({
  ...{ title, outcome, bed: 'lab' },
  ...{ wallSeconds: 10, cpuSeconds: 5 },
});

interface Attempt {
  readonly passed: number;
  readonly failed: number;
  readonly failures?: readonly string[];
  readonly ended: Readonly<Record<string, Ending['outcome']>>;
}

const choice: Choice = { core: [pair('slow')], others: [pair('good'), pair('bad')] };

/** What comes of stories whose attempts end so, and which were told in each. */
async function told(...attempts: readonly Attempt[]): Promise<StoriesResult & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const telling: Telling = { bed: 'lab', choice, forMillis: 1000 };
  const result = await tellStories(telling, async (_, { core, others }, attempt) => {
    asked.push([...core, ...others].map(({ title }) => title).join(' '));
    const { ended, ...tally } = attempts[attempt - 1] ?? { passed: 0, failed: 0, ended: {} };
    const suite: SuiteResult = { ...tally, wallSeconds: 60, cpuSeconds: 30 };
    return [suite, Object.entries(ended).map(([title, outcome]) => ending(title, outcome))];
  });
  return { ...result, asked };
}

const failure = (title: string): string => `test/e2e/x.e2e.ts: ${title}: WaitTimeout: not within 240 s`;
const left = 'after the tests: the lab left behind: process 7 of slow';
const slow = { passed: 1, failed: 1, failures: [failure('slow')], ended: { slow: 'waited', good: 'passed' } } as const;
const passes = { passed: 1, failed: 0, ended: { slow: 'passed' } } as const;

describe('stories that are told', () => {
  it('are told again when they waited in vain, and are flakes when they pass then', async () => {
    const { passed, failed, failures, flakes, endings, asked } = await told(slow, passes);
    expect({ passed, failed, failures, flakes }).toEqual({ passed: 2, failed: 0, failures: [], flakes: ['slow'] });
    expect(asked).toEqual(['slow good bad', 'slow']);
    expect(endings.map(({ title, outcome }) => `${title} ${outcome}`)).toEqual(['good passed', 'slow passed']);
  });

  it('are named when they were chosen and have no ending', async () => {
    const titles = async (...attempts: readonly Attempt[]) =>
      (await told(...attempts)).leftOut.map(({ title }) => title);
    expect(await titles(slow, passes)).toEqual(['bad']);
    expect(await titles({ passed: 1, failed: 0, ended: { good: 'passed' } })).toEqual(['slow', 'bad']);
  });

  it('are not told again when they failed otherwise, or when more than three have failed', async () => {
    expect((await told({ passed: 1, failed: 1, ended: { slow: 'failed', good: 'passed' } })).asked).toHaveLength(1);
    expect((await told({ ...slow, failed: 4 })).asked).toHaveLength(1);
  });

  it('stay red when something that is no test failed beside a story that is a flake', async () => {
    const { failed, failures } = await told({ ...slow, failed: 2, failures: [failure('slow'), left] }, passes);
    expect({ failed, failures }).toEqual({ failed: 1, failures: [left] });
  });

  it('are red when the second attempt ends badly, though the story passes in it', async () => {
    const { failed, failures } = await told(slow, { ...passes, failed: 1, failures: [left] });
    expect({ failed, failures }).toEqual({ failed: 1, failures: [`told again: ${left}`] });
  });

  it('have failed when they fail in both attempts, or do not begin in the second', async () => {
    const twice = await told(slow, { passed: 0, failed: 1, failures: [failure('slow')], ended: { slow: 'waited' } });
    expect(twice).toMatchObject({ passed: 1, failed: 1, flakes: [] });
    expect(await told(slow, { passed: 0, failed: 1, ended: {} })).toMatchObject({ passed: 1, failed: 2, flakes: [] });
  });

  it('keep the failure of another story whose title has that of a flake in it', async () => {
    const both = { ...slow, failed: 2, failures: [failure('slow'), failure('slow as well')] };
    expect((await told(both, passes)).failures).toEqual([failure('slow as well')]);
  });
});

describe('a suite of stories', () => {
  it('tells them side by side at first, then one by one and with less patience', () => {
    const suite = (attempt: number) => suiteOf({ bed: 'lab', choice, forMillis: 1000 }, choice, attempt);
    expect(suite(1).options).toEqual(['slow', 'good', 'bad'].map((file) => `test/e2e/${file}.e2e.ts`));
    expect(suite(1).env?.['STORIES_PATIENCE']).toBeUndefined();
    expect(suite(2).options?.slice(3)).toEqual(['--maxWorkers=1', '--maxConcurrency=1']);
    expect(suite(2).env?.['STORIES_PATIENCE']).toBe('2');
  });
});

describe('the files of stories', () => {
  const inFile = (title: string, file: string): Pair => ({ ...pair(title), file });
  const logs = inFile('logs, exec and attach work as typed', 'kubectl.e2e.ts');
  const shell = inFile('a shell can be had by run -it --rm', 'kubectl.e2e.ts');
  const auth = inFile('a cluster of etcd 3.6.16 whose auth is switched on grows, heals and is upgraded', 'auth.e2e.ts');
  const unknown = inFile('a new one', 'new.e2e.ts');

  it('are expected to take what the ledger says, else what was measured of short stories, and begin in that order', () => {
    const core = [logs, shell, auth, unknown];
    const { seconds } = turnsOf({ core, others: [] }, 0, emptyLedger);
    const order = Object.entries(seconds).toSorted(([, a], [, b]) => b - a);
    expect(order.map(([file]) => file)).toEqual(['auth.e2e.ts', 'new.e2e.ts', 'kubectl.e2e.ts']);
    const known = {
      ...emptyLedger,
      stories: { [shell.key]: { commit: 'c', landings: 1, wallSeconds: 500, cpuSeconds: 1 } },
    };
    expect(turnsOf({ core, others: [] }, 0, known).seconds['kubectl.e2e.ts']).toBeGreaterThan(500);
  });
});
