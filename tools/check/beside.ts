import { endAll } from '../lib/measured.ts';
import { type Run, Stopped } from './run.ts';

interface Preparation {
  readonly name: string;
  readonly ready: Promise<unknown>;
}

/** Waits for a gate and for what is prepared beside it. If that fails, the programs of the gate are ended. */
export async function beside(run: Run, { name, ready }: Preparation, gate: Promise<void>): Promise<void> {
  const isReady = ready.then(
    () => true,
    (error: unknown) => {
      run.fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      endAll();
      return false;
    },
  );
  await gate;
  if (!(await isReady)) throw new Stopped(`${name} failed: the rest was not run`);
}
