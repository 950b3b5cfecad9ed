import type { Mutant } from '../../test/mutants/mutant.ts';
import type { Copy } from './copy.ts';
import { type FailedTest, runTests } from './run-tests.ts';
import { type Imports, portionsFor } from './test-order.ts';

/** How one bug ended. */
export interface MutantResult {
  readonly mutant: Mutant;
  /** The first test that failed; undefined if the mutant survived. */
  readonly killer: FailedTest | undefined;
  /** Why the result does not count. */
  readonly problem: string | undefined;
  readonly cpuSeconds: number;
}

interface Tests {
  readonly all: readonly string[];
  readonly imports: Imports;
  /** Test files that pass without a bug. */
  readonly green: Set<string>;
}

/** Plants one bug, runs the nearest tests first, and stops at the first test that fails. */
export async function examine(mutant: Mutant, copy: Copy, tests: Tests): Promise<MutantResult> {
  let [killer, cpuSeconds] = [undefined as FailedTest | undefined, 0];
  await copy.plant(mutant);
  for (const portion of portionsFor(mutant.file, tests.all, tests.imports)) {
    const run = await runTests(copy, portion);
    cpuSeconds += run.cpuSeconds;
    killer = run.failed;
    if (killer !== undefined) break;
  }
  await copy.restore();
  if (killer === undefined) return { mutant, killer, problem: undefined, cpuSeconds };
  return { mutant, killer, problem: await problemWith(killer, copy, tests), cpuSeconds };
}

/** A test kills a mutant only if it runs, and passes without the bug. */
async function problemWith({ file, title }: FailedTest, copy: Copy, { green }: Tests): Promise<string | undefined> {
  if (title === undefined) return `${file} does not load`;
  if (green.has(file)) return undefined;
  const { failed } = await runTests(copy, [file]);
  if (failed !== undefined) return `${file} fails without the bug too: ${failed.title}`;
  green.add(file);
  return undefined;
}
