import { labCommand } from './cli/command.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal));

try {
  await labCommand(process.argv.slice(2), process.env, stop.signal);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
process.exit(); // a download or build in progress must not keep the process alive
