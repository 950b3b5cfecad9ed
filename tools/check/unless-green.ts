import { hashOfInputs } from './inputs.ts';
import type { Run } from './run.ts';
import type { SkippableSuite } from './suites.ts';

interface Hashes {
  readonly known: Readonly<Record<string, string>>;
  readonly green: Record<string, string>;
}

/** Runs a suite, unless all that goes into it is as it was when it was green and within its budget. */
export async function unlessGreen(
  run: Run,
  { name, sources, run: work }: SkippableSuite,
  { known, green }: Hashes,
): Promise<void> {
  const hash = await hashOfInputs(sources);
  if (known[name] === hash) return run.skip(name, 'nothing that goes into it has changed since it was green');
  const { failed, isWithinBudget } = await run.suite(name, work);
  if (failed === 0 && isWithinBudget) green[name] = hash;
}
