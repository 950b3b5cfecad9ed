import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { layoutOf } from './cluster/layout.ts';
import { storiesOnTestCluster } from './e2e-run.ts';
import { runMain } from './lib/main.ts';
import { plainLine, runSuite, type Tally } from './lib/suites.ts';

interface Options {
  readonly minutes: string;
  readonly seed: string;
  readonly on: 'lab' | 'cluster';
  readonly cluster: string;
}

const title = 'a cluster is linearizable while members and the operator are killed';
const page = join(import.meta.dirname, '../docs/development/chaos.md');

/** Runs the chaos story for some minutes; it writes the page with its report. */
function chaos({ minutes, seed, on, cluster }: Options): Promise<Tally> {
  mkdirSync(dirname(page), { recursive: true });
  const env = { CHAOS_MINUTES: minutes, CHAOS_SEED: seed, CHAOS_REPORT: page };
  process.stdout.write(`MINUTES=${minutes} SEED=${seed} ON=${on} make chaos\n`);
  const options = ['test/e2e/chaos.e2e.ts'];
  if (on === 'lab')
    return runSuite({ projects: ['stories on the lab'], env: { ...env, KUBECONFIG: '' }, title, options });
  return storiesOnTestCluster(layoutOf(cluster), title, { env, options });
}

const program = new Command('chaos')
  .option('--minutes <count>', 'length of the run', '10')
  .option('--seed <number>', 'selects faults and requests; random by default', String(randomInt(1_000_000)))
  .addOption(new Option('--on <place>', 'where to run').choices(['lab', 'cluster']).default('cluster'))
  .option('--cluster <name>', 'name of the test cluster', 'dev')
  .action(async (options: Options) => {
    const tally = await chaos(options);
    process.stdout.write(`\n${plainLine(tally)}\n`);
    if (tally.failed > 0) process.exitCode = 1;
  });
await runMain(async () => {
  await program.parseAsync();
});
