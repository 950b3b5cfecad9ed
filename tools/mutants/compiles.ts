import type { Mutant } from '../../test/mutants/mutant.ts';
import { attempt } from '../lib/run.ts';
import type { Copy } from './copy.ts';

/** Errors about unused names: a bug may leave an import behind. */
const unused = /error TS(?:6133|6192|6196|6198)\b/;

/** The errors of the compiler. One run of the compiler checks all bugs that apply beside each other. */
export async function compilerErrors(
  mutants: readonly Mutant[],
  copy: Copy,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const errors: string[] = [];
  for (let left = mutants; left.length > 0; ) {
    const together = await plantTogether(left, copy);
    const { stdout } = await attempt('tsc', ['--pretty', 'false', '-p', '.'], { cwd: copy.directory, signal });
    await copy.restore();
    const lines = stdout.split('\n').filter((line) => /error TS\d+/.test(line) && !unused.test(line));
    errors.push(...lines.map((line) => `${line} (${namesFor(line, together)})`));
    left = left.filter((mutant) => !together.includes(mutant));
  }
  return errors;
}

/** Plants every bug whose fragment is left by the others. */
async function plantTogether(mutants: readonly Mutant[], copy: Copy): Promise<readonly Mutant[]> {
  const applied: Mutant[] = [];
  for (const mutant of mutants)
    await copy.plant(mutant).then(
      () => applied.push(mutant),
      (error: unknown) => {
        if (applied.every(({ file }) => file !== mutant.file)) throw error;
      },
    );
  return applied;
}

/** The bugs that may have caused an error. */
const namesFor = (line: string, mutants: readonly Mutant[]): string =>
  mutants
    .filter(({ file }) => line.startsWith(`${file}(`))
    .map(({ name }) => name)
    .join(', ');
