import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.ts';

/**
 * A wait that ran out. Its name tells it from a failed expectation: on a busy machine what was awaited may come later, while
 * a wrong answer stays wrong.
 */
export class WaitTimeout extends Error {
  override readonly name = 'WaitTimeout';
}

/**
 * Asks again and again until there is an answer. Only for what cannot be watched (a connection through a cut, a name in
 * DNS, what etcd says): objects in the API are watched, see api.ts.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 60 }: { readonly seconds?: number } = {},
): Promise<T> {
  const began = performance.now();
  const deadline = began + seconds * patience * 1000;
  let lastError: unknown;
  const asked = (): Promise<T | undefined> => {
    lastError = undefined;
    return ask().catch((error: unknown) => {
      lastError = error;
      return undefined;
    });
  };
  for (let answer = await asked(); ; answer = await asked()) {
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw ranOut(`not within ${seconds * patience} s: ${what}`, lastError);
    await sleep(pauseAfter(performance.now() - began));
  }
}

/** What a wait throws at its deadline: an expectation that failed last is a wrong answer, and is not made a timeout. */
export const ranOut = (message: string, cause: unknown): unknown =>
  isAssertion(cause) ? cause : new WaitTimeout(message, { cause });

export const isAssertion = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'AssertionError';

/** After a long wait the question is asked less often: some are a kubectl each, and several stories share two cores. */
const pauseAfter = (waitedMillis: number): number => Math.min(Math.max(waitedMillis / 10, 100), 500);
