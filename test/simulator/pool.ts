import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { LifeResult } from './life/life.ts';

export interface Lives {
  readonly lives: number;
  readonly failures: readonly LifeResult[];
}

/** After so many broken lives the run stops: they mostly have one cause. */
const mostFailures = 20;

/** Runs lives on all processors, two at most, until the seeds or the time end. */
export async function runLives(seeds: Iterable<number>, untilMillis: number): Promise<Lives> {
  const iterator = seeds[Symbol.iterator]();
  const failures: LifeResult[] = [];
  const began = performance.now();
  let lives = 0;
  const next = (): number | undefined => {
    const isOver = performance.now() - began > untilMillis || failures.length >= mostFailures;
    const seed = isOver ? undefined : iterator.next();
    return seed?.done === false ? seed.value : undefined;
  };
  const work = async (): Promise<void> => {
    const worker = fork(join(import.meta.dirname, 'worker.ts'));
    const died = once(worker, 'exit').then(([code]) =>
      Promise.reject(new Error(`a worker ended with ${String(code)}`)),
    );
    died.catch(() => undefined); // each wait below sees it
    for (let seed = next(); seed !== undefined; seed = next()) {
      const answered = once(worker, 'message') as Promise<[LifeResult]>;
      worker.send(seed);
      const [result] = await Promise.race([answered, died]);
      lives++;
      if (result.violations.length > 0) failures.push(result);
    }
    worker.disconnect();
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  return { lives, failures: failures.toSorted((a, b) => a.seed - b.seed) };
}
