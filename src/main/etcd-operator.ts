import { runOperator } from './operator.ts';
import { settingsFrom } from './settings.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal));

try {
  await runOperator(settingsFrom(process.argv.slice(2), process.env), process.env, stop.signal);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
