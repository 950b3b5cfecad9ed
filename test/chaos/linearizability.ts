import { run } from '../../tools/lib/run.ts';
import { buildPrograms, program } from '../../tools/programs/build.ts';
import type { CheckerLine } from './checker-input.ts';

export interface LinearizabilityReport {
  /** `unknown`: the check did not end in time. */
  readonly verdict: 'ok' | 'illegal' | 'unknown';
  readonly operations: number;
  readonly keys: readonly { readonly key: string; readonly operations: number; readonly verdict: string }[];
}

/** Checks a history with Porcupine. `picture` is the file for a drawing of an illegal history. */
export async function checkLinearizability(
  lines: readonly CheckerLine[],
  picture?: string,
): Promise<LinearizabilityReport> {
  await buildPrograms(({ name }) => name === 'porcupine');
  const input = lines.map((line) => JSON.stringify(line)).join('\n');
  const args = picture === undefined ? [] : ['-picture', picture];
  return JSON.parse(await run(program('porcupine', 'porcupine'), args, { input })) as LinearizabilityReport;
}
