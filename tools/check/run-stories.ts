import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shortStorySeconds } from '../../test/support/short-stories.ts';
import type { Ending, Turns } from '../../test/support/story-turns.ts';
import {
  bailAfter,
  resultsDirectory,
  runSuite,
  type Suite,
  type SuiteResult,
  sum,
  sumWithTimes,
} from '../lib/suites.ts';
import type { Choice, Pair } from './choose.ts';
import { type Bed, type Ledger, readLedger } from './ledger.ts';

/** The result of stories on one bed, with each ending, and the stories that passed only when run again. */
export interface StoriesResult extends SuiteResult {
  readonly endings: readonly Ending[];
  readonly flakes: readonly string[];
  /** Chosen stories without an ending, because of the deadline or an early end. */
  readonly leftOut: readonly Pair[];
}

export interface StoryRun {
  readonly bed: Bed;
  readonly choice: Choice;
  readonly env?: Readonly<Record<string, string>>;
  /** Other test files that run beside the stories. */
  readonly besides?: readonly string[];
  /** Stories outside the core start within this time. */
  readonly forMillis: number;
  /** On the cluster, stories alone start after this: another suite uses the cluster until then. */
  readonly beforeAlone?: Promise<unknown>;
}

/** A vitest run of an attempt. The runs of an attempt follow each other. */
export interface StoryGroup {
  readonly projects: readonly string[];
  readonly choice: Choice;
  /** True if its stories tolerate no other test on the same cluster. */
  readonly isAlone: boolean;
}

/** On the lab one run has all stories, because each run starts a lab. Nothing else uses that lab. */
function groupsOf(bed: Bed, choice: Choice): readonly StoryGroup[] {
  if (bed === 'lab') return [{ projects: ['stories on the lab', 'stories alone on the lab'], choice, isAlone: false }];
  const groups = [
    { projects: ['stories'], choice: among(choice, isTogether), isAlone: false },
    { projects: ['stories alone'], choice: among(choice, isStoryAlone), isAlone: true },
  ];
  return groups.filter((group) => group.choice.core.length + group.choice.others.length > 0);
}

const among = ({ core, others }: Choice, isChosen: (pair: Pair) => boolean): Choice => ({
  core: core.filter(isChosen),
  others: others.filter(isChosen),
});

const isStoryAlone = ({ file }: Pair): boolean => file.endsWith('.alone.e2e.ts');
const isTogether = (pair: Pair): boolean => !isStoryAlone(pair);

/** The time from the deadline for new stories to the end of the suite. */
const slackMillis = 8 * 60_000;

/** The time-out factor of a story that runs alone. */
const retryTimeoutFactor = 2;

/** With more failures than this, no story is run again. */
const mostRetried = 3;

export const recordFile = join(resultsDirectory, 'stories.jsonl');

/** The result of one attempt: its tally and the endings. */
type Attempted = readonly [SuiteResult, readonly Ending[]];
type RunOnce = (storyRun: StoryRun, choice: Choice, attempt: number) => Promise<Attempted>;

/** Runs the chosen stories. A story that timed out is run once more, after all others. */
export async function runStories(storyRun: StoryRun, runAttempt: RunOnce = runOnce): Promise<StoriesResult> {
  const chosen = [...storyRun.choice.core, ...storyRun.choice.others];
  const first = await runAttempt(storyRun, storyRun.choice, 1);
  const [{ failed }, endings] = first;
  const waited = endings.filter(({ outcome }) => outcome === 'waited').map(({ title }) => title);
  const leftOut = chosen.filter((pair) => !endings.some(({ title }) => title === pair.title));
  if (waited.length === 0 || failed > mostRetried) return { ...first[0], endings, flakes: [], leftOut };
  const again = { core: chosen.filter(({ title }) => waited.includes(title)), others: [] };
  return { ...withSecondAttempt(first, await runAttempt({ ...storyRun, besides: [] }, again, 2)), leftOut };
}

/**
 * Merges both attempts. A story that passed the second time is a flake; every other failure of either attempt counts.
 */
function withSecondAttempt(
  [first, firstEndings]: Attempted,
  [second, endings]: Attempted,
): Omit<StoriesResult, 'leftOut'> {
  const flakes = endings.filter(({ outcome }) => outcome === 'passed').map(({ title }) => title);
  const besides = Math.max(second.failed - (endings.length - flakes.length), 0);
  const isOfFlake = (failure: string): boolean => flakes.some((title) => failure.includes(`.e2e.ts: ${title}: `));
  return {
    ...first,
    passed: first.passed + flakes.length,
    failed: first.failed - flakes.length + besides,
    failures: [
      ...(first.failures ?? []).filter((failure) => !isOfFlake(failure)),
      ...(second.failures ?? []).map((failure) => `run again: ${failure}`),
    ],
    endings: [...firstEndings.filter(({ title }) => !flakes.includes(title)), ...endings],
    flakes,
  };
}

async function runOnce(storyRun: StoryRun, choice: Choice, attempt: number): Promise<Attempted> {
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(
    turnsFile(storyRun.bed, attempt),
    JSON.stringify(turnsOf(choice, Date.now() + storyRun.forMillis, readLedger())),
  );
  const before = (await endingsIn(recordFile)).length;
  const endsAt = performance.now() + storyRun.forMillis + slackMillis;
  const runGroup = (group: StoryGroup): Promise<SuiteResult> =>
    runSuite({ ...suiteOf(storyRun, group, attempt), limitMillis: endsAt - performance.now() });
  const result = await runGroups(storyRun, choice, runGroup);
  return [result, (await endingsIn(recordFile)).slice(before)];
}

/** Runs the groups of an attempt in order, until one has failed too often. */
export async function runGroups(
  { bed, beforeAlone }: Pick<StoryRun, 'bed' | 'beforeAlone'>,
  choice: Choice,
  runGroup: (group: StoryGroup) => Promise<SuiteResult>,
): Promise<SuiteResult> {
  const results: SuiteResult[] = [];
  for (const group of groupsOf(bed, choice)) {
    if (group.isAlone) await beforeAlone;
    results.push(await runGroup(group));
    if (sum(results).failed >= bailAfter) break;
  }
  if (results.length === 0) return { passed: 0, failed: 1, failures: ['no story'], wallSeconds: 0, cpuSeconds: 0 };
  return sumWithTimes(results);
}

const turnsFile = (bed: Bed, attempt: number): string => join(resultsDirectory, `turns-${bed}-${attempt}.json`);

/** The vitest options of a group. The second attempt runs stories one by one, with shorter time-outs. */
export function suiteOf({ bed, env = {}, besides = [] }: StoryRun, group: StoryGroup, attempt: number): Suite {
  const { choice, projects, isAlone } = group;
  const files = [...filesOf([...choice.core, ...choice.others]), ...besides];
  const turns = {
    STORIES_TURNS: turnsFile(bed, attempt),
    STORIES_RECORD: recordFile,
    STORIES_ATTEMPT: String(attempt),
  };
  const [oneByOne, patience] =
    attempt > 1
      ? [['--maxWorkers=1', '--maxConcurrency=1'], { STORIES_PATIENCE: String(retryTimeoutFactor) }]
      : [[], {}];
  return {
    projects,
    report: `stories-${bed}-${attempt}${isAlone ? '-alone' : ''}`,
    env: { ...env, ...turns, ...patience },
    options: [...files, ...oneByOne],
  };
}

/** The assumed wall-clock seconds of a story that has not run on this machine. */
const unknownSeconds: Readonly<Record<Bed, number>> = { lab: 45, cluster: 60 };

const secondsOf = ({ key, bed, title }: Pair, { stories }: Ledger): number =>
  stories[key]?.wallSeconds ?? (bed === 'lab' ? shortStorySeconds[title] : undefined) ?? unknownSeconds[bed];

export function turnsOf({ core, others }: Choice, deadline: number, ledger: Ledger): Turns {
  const seconds = new Map<string, number>();
  for (const pair of [...core, ...others])
    seconds.set(pair.file, (seconds.get(pair.file) ?? 0) + secondsOf(pair, ledger));
  return {
    core: core.map(({ title }) => title),
    others: others.map(({ title }) => title),
    deadline,
    seconds: Object.fromEntries(seconds),
  };
}

const filesOf = (pairs: readonly Pair[]): readonly string[] => [
  ...new Set(pairs.map(({ file }) => `test/e2e/${file}`)),
];

export async function endingsIn(file: string): Promise<readonly Ending[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Ending);
}
