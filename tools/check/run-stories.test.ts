import { describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import type { SuiteResult } from '../lib/suites.ts';
import type { Choice, Pair } from './choose.ts';
import { emptyLedger } from './ledger.ts';
import {
  runGroups,
  runStories,
  type StoriesResult,
  type StoryGroup,
  type StoryRun,
  suiteOf,
  turnsOf,
} from './run-stories.ts';

const pair = (title: string): Pair => ({
  title,
  key: `lab: ${title}`,
  file: `${title}.e2e.ts`,
  bed: 'lab',
  where: 'everywhere',
});
const ending = (title: string, outcome: Ending['outcome']): Ending => ({
  title,
  outcome,
  bed: 'lab',
  wallSeconds: 10,
  cpuSeconds: 5,
});

interface Attempt {
  readonly passed: number;
  readonly failed: number;
  readonly failures?: readonly string[];
  readonly ended: Readonly<Record<string, Ending['outcome']>>;
}

const choice: Choice = { core: [pair('slow')], others: [pair('good'), pair('bad')] };

/** The result of stories with these attempts, and the titles run in each attempt. */
async function resultOf(
  ...attempts: readonly Attempt[]
): Promise<StoriesResult & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const storyRun: StoryRun = { bed: 'lab', choice, forMillis: 1000 };
  const result = await runStories(storyRun, async (_, { core, others }, attempt) => {
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

describe('runStories', () => {
  it('a story that timed out is run again, and is a flake if it passes then', async () => {
    const { passed, failed, failures, flakes, endings, asked } = await resultOf(slow, passes);
    expect({ passed, failed, failures, flakes }).toEqual({ passed: 2, failed: 0, failures: [], flakes: ['slow'] });
    expect(asked).toEqual(['slow good bad', 'slow']);
    expect(endings.map(({ title, outcome }) => `${title} ${outcome}`)).toEqual(['good passed', 'slow passed']);
  });

  it('a chosen story without an ending is listed as left out', async () => {
    const titles = async (...attempts: readonly Attempt[]) =>
      (await resultOf(...attempts)).leftOut.map(({ title }) => title);
    expect(await titles(slow, passes)).toEqual(['bad']);
    expect(await titles({ passed: 1, failed: 0, ended: { good: 'passed' } })).toEqual(['slow', 'bad']);
  });

  it('no story is run again after an ordinary failure, or after more than three failures', async () => {
    expect((await resultOf({ passed: 1, failed: 1, ended: { slow: 'failed', good: 'passed' } })).asked).toHaveLength(1);
    expect((await resultOf({ ...slow, failed: 4 })).asked).toHaveLength(1);
  });

  it('a failure outside the tests still counts beside a flake', async () => {
    const { failed, failures } = await resultOf({ ...slow, failed: 2, failures: [failure('slow'), left] }, passes);
    expect({ failed, failures }).toEqual({ failed: 1, failures: [left] });
  });

  it('a failed second attempt counts although its story passes', async () => {
    const { failed, failures } = await resultOf(slow, { ...passes, failed: 1, failures: [left] });
    expect({ failed, failures }).toEqual({ failed: 1, failures: [`run again: ${left}`] });
  });

  it('a story that fails in both attempts, or does not start in the second, has failed', async () => {
    const twice = await resultOf(slow, {
      passed: 0,
      failed: 1,
      failures: [failure('slow')],
      ended: { slow: 'waited' },
    });
    expect(twice).toMatchObject({ passed: 1, failed: 1, flakes: [] });
    expect(await resultOf(slow, { passed: 0, failed: 1, ended: {} })).toMatchObject({
      passed: 1,
      failed: 2,
      flakes: [],
    });
  });

  it('the failure of a story is kept if its title contains the title of a flake', async () => {
    const both = { ...slow, failed: 2, failures: [failure('slow'), failure('slow as well')] };
    expect((await resultOf(both, passes)).failures).toEqual([failure('slow as well')]);
  });
});

describe('a suite of stories', () => {
  it('runs concurrently at first, then one by one with shorter time-outs', () => {
    const suite = (attempt: number) =>
      suiteOf({ bed: 'lab', choice, forMillis: 1000 }, { projects: ['x'], choice, isAlone: false }, attempt);
    expect(suite(1).options).toEqual(['slow', 'good', 'bad'].map((file) => `test/e2e/${file}.e2e.ts`));
    expect(suite(1).env?.['STORIES_PATIENCE']).toBeUndefined();
    expect(suite(2).options?.slice(3)).toEqual(['--maxWorkers=1', '--maxConcurrency=1']);
    expect(suite(2).env?.['STORIES_PATIENCE']).toBe('2');
  });
});

describe('the groups of a run of stories', () => {
  const onCluster = (title: string): Pair => ({ ...pair(title), bed: 'cluster' });
  const mixed: Choice = { core: [onCluster('nodes.alone')], others: [onCluster('upgrade'), onCluster('crds.alone')] };
  const passed: SuiteResult = { passed: 1, failed: 0, failures: [], wallSeconds: 60, cpuSeconds: 30 };

  /** Runs groups that end with these results; notes each group, and the end of the other suite. */
  async function groupsRun(chosen: Choice, results: readonly SuiteResult[] = [], bed: Pair['bed'] = 'cluster') {
    const run: string[] = [];
    const other = Promise.withResolvers<void>();
    const runGroup = async ({ projects, choice: { core, others } }: StoryGroup): Promise<SuiteResult> => {
      const result = results[run.length] ?? passed;
      run.push(`${projects.join()}: ${[...core, ...others].map(({ title }) => title).join()}`);
      setImmediate(() => {
        run.push('the other suite ends');
        other.resolve();
      });
      return result;
    };
    const result = await runGroups({ bed, beforeAlone: other.promise }, chosen, runGroup);
    return { run, result };
  }

  it('stories alone begin on the cluster after all other stories and after the other suite', async () => {
    const { run, result } = await groupsRun(mixed);
    expect(run.slice(0, 3)).toEqual([
      'stories: upgrade',
      'the other suite ends',
      'stories alone: nodes.alone,crds.alone',
    ]);
    expect(result).toEqual({ ...passed, passed: 2, wallSeconds: 120, cpuSeconds: 60 });
  });

  it('the lab runs all stories at once, and a group without a story does not run', async () => {
    expect((await groupsRun(mixed, [], 'lab')).run[0]).toBe(
      'stories on the lab,stories alone on the lab: nodes.alone,upgrade,crds.alone',
    );
    expect((await groupsRun({ core: [onCluster('upgrade')], others: [] })).run).toEqual(['stories: upgrade']);
    expect((await groupsRun({ core: [], others: [] })).result).toMatchObject({ passed: 0, failed: 1 });
  });

  it('five failures end the run before the stories alone', async () => {
    const failed = { ...passed, passed: 0, failed: 5 };
    expect(await groupsRun(mixed, [failed])).toMatchObject({ run: ['stories: upgrade'], result: { failed: 5 } });
  });
});

describe('the expected duration of story files', () => {
  const inFile = (title: string, file: string): Pair => ({ ...pair(title), file });
  const logs = inFile('kubectl logs, exec and attach work with a pod', 'kubectl.e2e.ts');
  const shell = inFile('kubectl run -it --rm opens a shell, and deletes its pod afterwards', 'kubectl.e2e.ts');
  const auth = inFile('a cluster of etcd 3.6.16 with auth enabled is scaled, healed and upgraded', 'auth.e2e.ts');
  const unknown = inFile('a new one', 'new.e2e.ts');

  it('comes from the ledger, or from the measured short stories, and orders the files', () => {
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
