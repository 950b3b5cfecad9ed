import { join } from 'node:path';
import { bundleOf, storiesBundleDirectory } from '../bundle.ts';
import { layoutOf } from '../cluster/layout.ts';
import { prepare } from '../cluster/up.ts';
import { type OwnCluster, withOwnCluster } from '../e2e-run.ts';
import { measured } from '../lib/measured.ts';
import { resultsDirectory, type SuiteResult } from '../lib/suites.ts';
import { buildPrograms } from '../programs/build.ts';
import { foreignKubectl } from '../programs/catalog.ts';
import { beside } from './beside.ts';
import { type Choice, type Circumstances, choose, type Pair } from './choose.ts';
import { readLedger, writeLedger } from './ledger.ts';
import { testAsOrdinaryUser } from './ordinary-user.ts';
import { addStories, recordRun } from './record-run.ts';
import type { Run } from './run.ts';
import { endingsIn, runStories, type StoriesResult, type StoryRun } from './run-stories.ts';
import { allStories, everyStory, familyOf, isCore, shortChoice, turningPairs } from './story-plan.ts';
import * as suites from './suites.ts';
import { changedFiles, headCommit, readStories, storiesTouched } from './touched.ts';
import { unlessGreen } from './unless-green.ts';

const minute = 60_000;
const storiesOnLab = 'stories on the lab';
const badInput = 'bad input';
const simulatedLives = 'simulated lives';
const storiesOnCluster = 'stories on the cluster';
const portForward = 'test/integration/kube-port-forward.test.ts';

/** `make test`: the checks that an ordinary user runs in some minutes. */
export async function testTier(run: Run): Promise<void> {
  const stories = await allStories();
  const programs = measured('nice', ['-n', '10', process.execPath, 'tools/check/lab-programs.ts']);
  await Promise.all([
    run.gate('format, lint, types', suites.staticChecks),
    run.gate('unit and simulation', async () => suites.unit(seedOf(await headCommit()))),
  ]);
  const { code } = await programs;
  const operator = code === 0 ? { LAB_OPERATOR_PROGRAM: bundleOf('etcd-operator', storiesBundleDirectory) } : {};
  const storyRun = { choice: shortChoice(stories), forMillis: 6 * minute };
  await Promise.all([
    run.suite('contract on the lab', suites.contractOnLab),
    inMachineMadeSuites(run),
    run.suite(storiesOnLab, () => onLab({ ...storyRun, env: { STORIES_VERSIONS: 'short', ...operator } })),
  ]);
}

/** The suites with machine-made input, one after the other, beside the others. */
async function inMachineMadeSuites(run: Run): Promise<void> {
  await run.suite(badInput, () => suites.badInput(1500));
  await run.suite(simulatedLives, () => suites.simulatedLives(150));
}

/** The seed of random tests: two checks of one commit have the same examples, and two commits have others. */
const seedOf = (commit: string): number => Number.parseInt(commit.slice(0, 7), 16);

const onLab = ({ env, ...storyRun }: Omit<StoryRun, 'bed' | 'besides'>): Promise<StoriesResult> =>
  runStories({ ...storyRun, bed: 'lab', env: { KUBECONFIG: '', ...env }, besides: [portForward] });

/** The CPU seconds of the stories of a check, and the time within which new stories start. */
const share = {
  lab: { cpuSeconds: 420, forMillis: 4 * minute },
  cluster: { cpuSeconds: 560, forMillis: 5.5 * minute },
} as const;

/** `make check`: all that CI runs. */
export async function checkTier(run: Run): Promise<void> {
  const [ledger, commit, stories] = [readLedger(), await headCommit(), await allStories()];
  const pairs = turningPairs(stories);
  const known = pairs.map(({ key }) => key);
  await recordRun(run, { ledger, commit, known, write: writeLedger }, async (green) => {
    await testAsNewContributor(run);
    const suite = (each: suites.SkippableSuite): Promise<void> =>
      unlessGreen(run, each, { known: ledger.suites, green });
    const labAndBadInput = async (): Promise<void> => {
      await suite(suites.lab);
      await run.suite(badInput, () => suites.badInput(10_000));
    };
    const ofPrograms = [suites.etcdOfEveryVersion, suites.stores, suites.fleet];
    await Promise.all([inOrder(ofPrograms, suite), labAndBadInput()]);
    await suite(suites.testCluster);
    await storiesByTurns(run, pairs, { ledger, commit });
  });
}

/** Runs `make test` as a new contributor, while the programs of the test cluster are prepared. */
async function testAsNewContributor(run: Run): Promise<void> {
  await buildPrograms(({ name }) => name === foreignKubectl);
  const preparation = { name: 'preparing the test cluster', ready: prepare(layoutOf('check')) };
  const test = async (): Promise<SuiteResult> => {
    const result = await testAsOrdinaryUser(15 * minute);
    addStories(run, await endingsIn(join(resultsDirectory, 'new-contributor/stories.jsonl')));
    return result;
  };
  await beside(run, preparation, run.gate('make test as an ordinary user', test));
}

type History = Pick<Circumstances, 'ledger' | 'commit'>;

async function storiesByTurns(run: Run, pairs: readonly Pair[], history: History): Promise<void> {
  const files = [...new Set(pairs.map(({ file }) => file))];
  const touched = storiesTouched(await changedFiles(history.ledger.landings), readStories(files));
  const done = new Set(run.endings.map(({ title }) => title));
  const circumstances: Circumstances = {
    ...history,
    touched,
    isCore,
    familyOf,
    isDone: ({ bed, title }) => bed === 'lab' && done.has(title),
    cpuSeconds: { lab: share.lab.cpuSeconds, cluster: share.cluster.cpuSeconds },
  };
  await clusterSuites(run, choose(pairs, 'cluster', circumstances), share.cluster.forMillis);
  const onTheLab = choose(pairs, 'lab', circumstances);
  await run.suite(storiesOnLab, () => onLab({ choice: onTheLab, forMillis: share.lab.forMillis }));
}

async function inOrder<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await work(item);
}

/**
 * Runs stories, and beside them the contract and integration tests, on one cluster. Stories that run alone start after
 * these tests.
 */
async function clusterSuites(run: Run, choice: Choice, forMillis: number): Promise<void> {
  await withOwnCluster('check', async (cluster) => {
    const before = cluster.cpuSeconds();
    const { env } = cluster;
    const contract = run.suite('contract and integration on the cluster', () => suites.contractOnCluster(env));
    const storyRun: StoryRun = { bed: 'cluster', choice, env, forMillis, beforeAlone: contract };
    await Promise.all([run.suite(storiesOnCluster, () => runStories(storyRun)), contract]);
    await run.suite('control plane, nodes and pods of the cluster', async () => clusterCost(cluster, before));
  }).catch((error: unknown) => run.fail(`the test cluster: ${error instanceof Error ? error.message : String(error)}`));
}

const clusterCost = ({ cpuSeconds }: OwnCluster, before: number): SuiteResult => ({
  passed: 1,
  failed: 0,
  wallSeconds: 0,
  cpuSeconds: cpuSeconds() - before,
});

/** `make e2e-all`: every suite and every story on both beds, regardless of earlier runs. */
export async function fullTier(run: Run): Promise<void> {
  const stories = await allStories();
  await buildPrograms();
  await run.gate('format, lint, types', suites.staticChecks);
  await run.gate('unit and simulation', () => suites.unit());
  await prepare(layoutOf('check'));
  await run.suite('contract on the lab', suites.contractOnLab);
  await run.suite(badInput, () => suites.badInput(10_000));
  await run.suite(simulatedLives, () => suites.simulatedLives(1000));
  for (const { name, run: work } of [
    suites.etcdOfEveryVersion,
    suites.stores,
    suites.lab,
    suites.fleet,
    suites.testCluster,
  ])
    await run.suite(name, work);
  await run.suite(storiesOnLab, () => onLab({ choice: everyStory(stories, 'the lab'), forMillis: 40 * minute }));
  await clusterSuites(run, everyStory(stories, 'our cluster'), 50 * minute);
}
