import { resolve } from 'node:path';
import { Command } from 'commander';
import { layoutOf } from './cluster/layout.ts';
import { storiesOnOtherCluster, storiesOnTestCluster } from './e2e-run.ts';
import { runMain } from './lib/main.ts';
import { plainLine, type Tally } from './lib/suites.ts';

interface Options {
  readonly cluster: string;
  readonly kubeconfig?: string;
  readonly story?: string;
}

function stories({ cluster, kubeconfig, story }: Options): Promise<Tally> {
  const layout = layoutOf(cluster);
  if (kubeconfig !== undefined && resolve(kubeconfig) !== layout.kubeconfig)
    return storiesOnOtherCluster(resolve(kubeconfig), story);
  return storiesOnTestCluster(layout, story);
}

const program = new Command('e2e')
  .option('--cluster <name>', 'name of the test cluster', 'dev')
  .option('--kubeconfig <file>', 'kubeconfig of an existing cluster, used instead of a test cluster')
  .option('--story <title>', 'run only stories with a matching title')
  .action(async (options: Options) => {
    const tally = await stories(options);
    process.stdout.write(`\n${plainLine(tally)}\n`);
    if (tally.failed > 0) process.exitCode = 1;
  });
await runMain(async () => {
  await program.parseAsync();
});
