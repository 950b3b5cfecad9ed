import { basename } from 'node:path';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal));

/** One program for operator and agents. Each loads only its own modules. */
async function main([first, ...rest]: readonly string[]): Promise<void> {
  if (first === 'agent') {
    const { runAgent } = await import('../agent/agent.ts');
    const isOk = await runAgent(rest, stop.signal);
    process.exit(isOk ? 0 : 1); // open connections must not keep the pod running
  }
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
