import { hashOfInputs } from './inputs.ts';
import type { Run } from './run.ts';
import type { SkippableSuite } from './suites.ts';

interface Hashes {
  readonly known: Readonly<Record<string, string>>;
  readonly green: Record<string, string>;
}

/** Runs a suite, unless it was green and within its budget with the same inputs. */
export async function unlessGreen(
  run: Run,
  { name, sources, run: work }: SkippableSuite,
  { known, green }: Hashes,
): Promise<void> {
  const hash = await hashOfInputs(sources);
  if (known[name] === hash) return run.skip(name, 'its inputs have not changed since it was green');
  const { failed, isWithinBudget } = await run.suite(name, work);
  if (failed === 0 && isWithinBudget) green[name] = hash;
}
