import { runOperator } from './operator.ts';
import { settingsFrom } from './settings.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal));

try {
  const [first, ...rest] = process.argv.slice(2);
  // Loaded only here: an operator in a cluster never needs it.
  if (first === 'lab') await (await import('../cli/lab/command.ts')).labCommand(rest, process.env, stop.signal);
  else await runOperator(settingsFrom(process.argv.slice(2), process.env), process.env, stop.signal);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
