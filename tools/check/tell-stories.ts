import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shortStorySeconds } from '../../test/support/short-stories.ts';
import type { Ending, Turns } from '../../test/support/story-turns.ts';
import { resultsDirectory, runSuite, type Suite, type SuiteResult } from '../lib/suites.ts';
import type { Choice, Pair } from './choose.ts';
import { type Bed, type Ledger, readLedger } from './ledger.ts';

/** Stories on one bed: what came of them, one by one, and which passed only when they were told again. */
export interface StoriesResult extends SuiteResult {
  readonly endings: readonly Ending[];
  readonly flakes: readonly string[];
  /** Stories that were chosen and have no ending, because time was up or the suite was ended. */
  readonly leftOut: readonly Pair[];
}

export interface Telling {
  readonly bed: Bed;
  readonly choice: Choice;
  readonly env?: Readonly<Record<string, string>>;
  /** Other files that run beside the stories. */
  readonly besides?: readonly string[];
  /** Stories outside the core begin no later than this; in milliseconds from now. */
  readonly forMillis: number;
}

const projectsOf: Readonly<Record<Bed, readonly string[]>> = {
  lab: ['stories on the lab', 'stories alone on the lab'],
  cluster: ['stories', 'stories alone'],
};

/** How much longer than its stories' deadline a suite may take to come to its end. */
const slackMillis = 8 * 60_000;

/** How much longer than on an idle machine a story may wait that is told alone. */
const patienceAlone = 2;

/** More failures than this are no chance: nothing is told again. */
const chanceful = 3;

export const recordFile = join(resultsDirectory, 'stories.jsonl');

/** What one attempt gives: its tally, and how each story ended. */
type Told = readonly [SuiteResult, readonly Ending[]];
type TellOnce = (telling: Telling, choice: Choice, attempt: number) => Promise<Told>;

/** Tells the chosen stories. One that waited in vain, and did not fail otherwise, is told once more when all others have ended. */
export async function tellStories(telling: Telling, tell: TellOnce = tellOnce): Promise<StoriesResult> {
  const chosen = [...telling.choice.core, ...telling.choice.others];
  const first = await tell(telling, telling.choice, 1);
  const [{ failed }, endings] = first;
  const waited = endings.filter(({ outcome }) => outcome === 'waited').map(({ title }) => title);
  const leftOut = chosen.filter((pair) => !endings.some(({ title }) => title === pair.title));
  if (waited.length === 0 || failed > chanceful) return { ...first[0], endings, flakes: [], leftOut };
  const again = { core: chosen.filter(({ title }) => waited.includes(title)), others: [] };
  return { ...toldAgain(first, await tell({ ...telling, besides: [] }, again, 2)), leftOut };
}

/** A story that passed the second time is a flake. All else that failed stays failed: in both attempts, whatever it was. */
function toldAgain([first, firstEndings]: Told, [second, endings]: Told): Omit<StoriesResult, 'leftOut'> {
  const flakes = endings.filter(({ outcome }) => outcome === 'passed').map(({ title }) => title);
  const besides = Math.max(second.failed - (endings.length - flakes.length), 0);
  const isOfFlake = (failure: string): boolean => flakes.some((title) => failure.includes(`.e2e.ts: ${title}: `));
  return {
    ...first,
    passed: first.passed + flakes.length,
    failed: first.failed - flakes.length + besides,
    failures: [
      ...(first.failures ?? []).filter((failure) => !isOfFlake(failure)),
      ...(second.failures ?? []).map((failure) => `told again: ${failure}`),
    ],
    endings: [...firstEndings.filter(({ title }) => !flakes.includes(title)), ...endings],
    flakes,
  };
}

async function tellOnce(telling: Telling, choice: Choice, attempt: number): Promise<Told> {
  const suite = suiteOf(telling, choice, attempt);
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(
    turnsFile(telling.bed, attempt),
    JSON.stringify(turnsOf(choice, Date.now() + telling.forMillis, readLedger())),
  );
  const before = (await endingsIn(recordFile)).length;
  const result = await runSuite(suite);
  return [result, (await endingsIn(recordFile)).slice(before)];
}

const turnsFile = (bed: Bed, attempt: number): string => join(resultsDirectory, `turns-${bed}-${attempt}.json`);

/** Stories that are told again are told one by one, and wait less. */
export function suiteOf({ bed, env = {}, besides = [], forMillis }: Telling, choice: Choice, attempt: number): Suite {
  const files = [...filesOf([...choice.core, ...choice.others]), ...besides];
  const turns = {
    STORIES_TURNS: turnsFile(bed, attempt),
    STORIES_RECORD: recordFile,
    STORIES_ATTEMPT: String(attempt),
  };
  const [alone, patience] =
    attempt > 1 ? [['--maxWorkers=1', '--maxConcurrency=1'], { STORIES_PATIENCE: String(patienceAlone) }] : [[], {}];
  return {
    projects: projectsOf[bed],
    report: `stories-${bed}-${attempt}`,
    env: { ...env, ...turns, ...patience },
    options: [...files, ...alone],
    limitMillis: forMillis + slackMillis,
  };
}

/** For how long a story is expected to take that has not been told on this machine, in seconds on the wall. */
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
