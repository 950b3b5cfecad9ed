import { checkEveryFileIsReached } from '../lib/reach.ts';
import { runOne, runSuite, type SuiteResult, sum, sumWithTimes } from '../lib/suites.ts';
import type { Sources } from './inputs.ts';

const minute = 60_000;

/** The time limit of each static check. They take seconds, on a busy machine half a minute. */
const staticLimit = 3 * minute;

/** Runs the static checks one after the other, because each uses all cores. */
export async function staticChecks(): Promise<SuiteResult> {
  const results = [
    await runOne('biome', ['check', '--log-level=warn', '.'], staticLimit),
    await runOne('oxlint', ['--quiet'], staticLimit),
    await runOne('tsc', ['-p', '.'], staticLimit),
    await runOne('knip', ['--no-progress', '--treat-config-hints-as-errors'], staticLimit),
  ];
  return sumWithTimes(results);
}

/** Property tests have the examples of `seed`, or random ones. A failure prints the seed. */
export const unit = (seed?: number): Promise<SuiteResult> =>
  runSuite({
    projects: ['unit'],
    env: seed === undefined ? {} : { FAST_CHECK_SEED: String(seed) },
    limitMillis: 5 * minute,
  });

export async function contractOnLab(): Promise<SuiteResult> {
  const result = await runSuite({ projects: ['contract'], env: { KUBECONFIG: '' }, limitMillis: 6 * minute });
  return result.failed > 0 ? result : { ...result, ...sum([result, checkEveryFileIsReached()]) };
}

/** Machine-made objects on the lab's API server. A failure prints the seed. */
export const badInput = (objects: number, seed?: number): Promise<SuiteResult> =>
  runSuite({
    projects: ['fuzz'],
    env: { FUZZ_OBJECTS: String(objects), ...(seed === undefined ? {} : { FUZZ_SEED: String(seed) }) },
    limitMillis: 8 * minute,
  });

/** Simulated lives of the whole operator, with fixed seeds. A failure prints the seed. */
export const simulatedLives = (lives: number): Promise<SuiteResult> =>
  runOne('node', ['test/simulator/main.ts', '--lives', String(lives)], 8 * minute);

export const contractOnCluster = (env: Readonly<Record<string, string>>): Promise<SuiteResult> =>
  runSuite({ projects: ['integration', 'contract'], env, report: 'contract-on-the-cluster', limitMillis: 10 * minute });

/** A suite that is skipped if its inputs have not changed since it was green. */
export interface SkippableSuite {
  readonly name: string;
  readonly sources: Sources;
  readonly run: () => Promise<SuiteResult>;
}

const wholeProgram = ['src/**/*.ts', 'tools/**/*', 'examples/**/*', 'deploy/**/*'];

export const etcdOfEveryVersion: SkippableSuite = {
  name: 'real etcd of every version',
  sources: {
    tests: ['test/integration/etcd*.test.ts'],
    besides: ['tools/programs/{etcd-*,porcupine}/*', 'test/chaos/*'],
  },
  run: () => runSuite({ projects: ['etcd'], limitMillis: 6 * minute }),
};

export const stores: SkippableSuite = {
  name: 'real stores',
  sources: { tests: ['test/integration/{stores,agents}*.test.ts'], besides: wholeProgram },
  run: () => runSuite({ projects: ['stores'], limitMillis: 8 * minute }),
};

export const lab: SkippableSuite = {
  name: 'the lab',
  sources: { tests: ['test/lab/*.test.ts'], besides: [...wholeProgram, 'lab/**/*'] },
  run: () => runSuite({ projects: ['lab'], limitMillis: 8 * minute }),
};

/** Fifty clusters on one operator. Only counts have limits: times depend on what else the machine does. */
export const fleet: SkippableSuite = {
  name: 'a fleet of clusters',
  sources: { tests: ['bench/fleet.ts', 'bench/fleet/*.ts'], besides: wholeProgram },
  run: () => {
    const flags = ['--clusters=50', '--idle=15', '--phases=idle,upgrade,restart', '--counts'];
    return runOne(process.execPath, ['bench/fleet.ts', ...flags], 6 * minute);
  },
};

export const testCluster: SkippableSuite = {
  name: 'the test cluster',
  sources: { tests: ['test/cluster/*.test.ts'], besides: wholeProgram },
  run: () => runSuite({ projects: ['cluster'], limitMillis: 8 * minute }),
};
