import { Command } from 'commander';
import { runMain } from '../lib/main.ts';
import { plainLine, runSuite, type SuiteResult, sum } from '../lib/suites.ts';

interface Options {
  readonly times: string;
  readonly story: string;
}

/** Runs the matching stories repeatedly on the lab, and prints how often they failed. */
async function repeatStories({ times, story }: Options): Promise<void> {
  const results: SuiteResult[] = [];
  for (let round = 1; round <= Number(times); round++) {
    const result = await runSuite({
      projects: ['stories on the lab', 'stories alone on the lab'],
      env: { KUBECONFIG: '' },
      title: story,
      report: `flakes-${round}`,
    });
    results.push(result);
    process.stdout.write(`round ${round} of ${times}: ${plainLine(result)}, ${result.wallSeconds.toFixed(1)} s\n`);
  }
  const red = results.filter(({ failed }) => failed > 0).length;
  const total = sum(results);
  for (const failure of total.failures ?? []) process.stdout.write(`failed: ${failure}\n`);
  process.stdout.write(`${red} of ${times} rounds failed\n${plainLine(total)}\n`);
  if (red > 0) process.exitCode = 1;
}

const program = new Command('flakes')
  .requiredOption('--story <title>', 'run stories with a matching title')
  .option('--times <count>', 'number of rounds', '20')
  .action(repeatStories);
await runMain(async () => {
  await program.parseAsync();
});
