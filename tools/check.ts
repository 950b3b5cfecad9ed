import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layoutOf } from './cluster/layout.ts';
import { prepare } from './cluster/up.ts';
import { allOnOwnCluster } from './e2e-run.ts';
import { cacheDirectory } from './lib/cache.ts';
import { lock } from './lib/lock.ts';
import { runMain } from './lib/main.ts';
import { everyFileIsReached } from './lib/reach.ts';
import { plainLine, resultsDirectory, runOne, runSuite, sum, type Tally } from './lib/suites.ts';

interface Phase {
  readonly name: string;
  readonly run: () => Promise<Tally>;
}

const preparing: Phase = {
  name: 'programs and images of the test cluster',
  run: async () => {
    await prepare(layoutOf('check'));
    return { passed: 0, failed: 0 };
  },
};

const unit: Phase = { name: 'tests', run: () => runSuite({ projects: ['unit'] }) };

const contractOfTheLab: Phase = {
  name: "the contract, with the lab's API server",
  run: async () => {
    const tally = await runSuite({ projects: ['contract'], env: { KUBECONFIG: '' } });
    return sum([tally, everyFileIsReached()]);
  },
};

const storiesOnTheLab = (which: 'all' | 'short'): Phase => ({
  name: 'stories on the lab',
  run: () =>
    runSuite({
      projects: ['stories on the lab', 'stories alone on the lab'],
      env: { STORIES_OF_THE_LAB: which },
    }),
});

/** For whoever waits for it: the one computes, the other mostly waits. */
const unitAndContract: Phase = {
  name: "tests, and beside them the contract, with the lab's API server",
  run: async () => sum(await Promise.all([unit.run(), contractOfTheLab.run()])),
};

const phases: Readonly<Record<string, readonly Phase[]>> = {
  test: [unitAndContract, storiesOnTheLab('short')],
  all: [
    { name: 'format', run: () => runOne('biome', ['check', '--log-level=warn', '.']) },
    { name: 'lint', run: () => runOne('oxlint', ['--quiet']) },
    { name: 'types', run: () => runOne('tsc', ['-p', '.']) },
    unit,
    preparing,
    { name: 'real etcd of every version', run: () => runSuite({ projects: ['etcd'] }) },
    { name: 'real stores', run: () => runSuite({ projects: ['stores'] }) },
    contractOfTheLab,
    { name: 'the lab', run: () => runSuite({ projects: ['lab'] }) },
    storiesOnTheLab('all'),
    { name: 'the test cluster', run: () => runSuite({ projects: ['cluster'] }) },
    { name: 'stories and integration', run: () => allOnOwnCluster('check') },
  ],
};

/** Runs every phase, also after one that failed: a run should tell all that is wrong. */
async function check(which: string): Promise<void> {
  await rm(resultsDirectory, { recursive: true, force: true });
  const tallies: Tally[] = [];
  const times: string[] = [];
  for (const { name, run } of phases[which] ?? []) {
    const began = performance.now();
    const tally = await run().catch((error: unknown) => {
      const failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      process.stderr.write(`${failure}\n`);
      return { passed: 0, failed: 1, failures: [failure] };
    });
    tallies.push(tally);
    times.push(
      `${((performance.now() - began) / 1000).toFixed(1).padStart(8)} s  ${name}${tally.failed > 0 ? ': FAILED' : ''}`,
    );
  }
  const total = sum(tallies);
  const failures = (total.failures ?? []).map((failure) => `failed: ${failure}\n`).join('');
  process.stdout.write(`\n${times.join('\n')}\n\n${failures}${plainLine(total)}\n`);
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(join(resultsDirectory, 'tally'), `${plainLine(total)}\n`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

/** Two checks of everything would use, and remove, each other's clusters. */
async function checkAlone(): Promise<void> {
  using _held = await lock(join(cacheDirectory(), 'check.lock'), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which runs all checks\n`),
  );
  await check('all');
}

await runMain(() => (process.argv[2] === 'test' ? check('test') : checkAlone()));
