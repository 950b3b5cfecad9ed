import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.ts';

/**
 * Asks again and again until the answer is one. Only for what cannot be watched (a connection through a cut, a name in
 * DNS): for anything in the API there is `kubectl wait`, which is told.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 60 }: { readonly seconds?: number } = {},
): Promise<T> {
  const began = performance.now();
  const deadline = began + seconds * patience * 1000;
  let lastError: unknown;
  const asked = (): Promise<T | undefined> =>
    ask().catch((error: unknown) => {
      lastError = error;
      return undefined;
    });
  for (let answer = await asked(); ; answer = await asked()) {
    if (answer !== undefined) return answer;
    if (performance.now() > deadline)
      throw new Error(`not within ${seconds * patience} s: ${what}`, { cause: lastError });
    await sleep(pauseAfter(performance.now() - began));
  }
}

/** Whoever has waited for long is asked less often: most questions are a kubectl each, and several stories share two cores. */
const pauseAfter = (waitedMillis: number): number => Math.min(Math.max(waitedMillis / 10, 100), 500);
