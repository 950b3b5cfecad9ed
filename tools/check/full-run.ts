import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { plainLine } from '../lib/suites.ts';
import type { Run } from './run.ts';
import { headCommit } from './touched.ts';

const page = join(import.meta.dirname, '../../docs/development/full-run.md');

/** Writes the page with the results of the last full run. */
export async function writeFullRun(run: Run): Promise<void> {
  const rows = run.lines.map(
    ({ name, tally, wallSeconds, cpuSeconds }) =>
      `| ${name} | ${tally.passed} | ${tally.failed} | ${wallSeconds.toFixed(0)} | ${cpuSeconds.toFixed(0)} |`,
  );
  const text = [
    '# The last full run',
    '',
    '`make e2e-all` runs every story on both beds, with isolated tests and dense traffic, and writes this page.',
    '',
    `- Commit: ${await headCommit()}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Result: ${plainLine(run.tally)}, in ${(run.seconds / 60).toFixed(1)} minutes on two cores`,
    `- Flakes: ${run.flakes.length === 0 ? 'none' : run.flakes.join('; ')}`,
    '',
    '| suite | passed | failed | wall s | CPU s |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
  await mkdir(dirname(page), { recursive: true });
  await writeFile(page, text);
}
