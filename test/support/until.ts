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
  const deadline = performance.now() + seconds * patience * 1000;
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
    await sleep(100);
  }
}
