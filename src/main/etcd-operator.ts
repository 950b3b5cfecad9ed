import { basename } from 'node:path';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal));

/** One program with several lives; none of them loads what only another needs. */
async function main([first, ...rest]: readonly string[]): Promise<void> {
  if (first === 'agent') {
    const { runAgent } = await import('../agents/agent.ts');
    const wentWell = await runAgent(rest, stop.signal);
    process.exit(wentWell ? 0 : 1); // connections that somebody's server holds open must not hold the pod
  }
  if (first === 'lab') return (await import('../cli/lab/command.ts')).labCommand(rest, process.env, stop.signal);
  const [{ runOperator }, { settingsFrom }] = await Promise.all([import('./operator.ts'), import('./settings.ts')]);
  const name = basename(process.argv[1] ?? '');
  await runOperator(settingsFrom(process.argv.slice(2), process.env, name), process.env, stop.signal);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// What a lab was fetching, or building, when it was told to end must not hold it.
if (process.argv[2] === 'lab') process.exit();
