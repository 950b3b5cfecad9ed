import { endAll } from '../lib/measured.ts';
import { type Run, Stopped } from './run.ts';

interface Preparation {
  readonly name: string;
  readonly ready: Promise<unknown>;
}

/** Waits for a gate and for a concurrent preparation. If the preparation fails, the gate's programs are killed. */
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
