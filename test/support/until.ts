import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.ts';

/**
 * A timed-out wait. Unlike a failed expectation, it may be caused by a busy machine.
 */
export class WaitTimeout extends Error {
  override readonly name = 'WaitTimeout';
}

/**
 * Retries until there is an answer. Only for state that cannot be watched (connections, DNS names, answers of etcd). API objects
 * are watched, see waits.ts.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 60 }: { readonly seconds?: number } = {},
): Promise<T> {
  const began = performance.now();
  const deadline = began + seconds * patience * 1000;
  let lastError: unknown;
  const attempt = (): Promise<T | undefined> => {
    lastError = undefined;
    return ask().catch((error: unknown) => {
      lastError = error;
      return undefined;
    });
  };
  for (let answer = await attempt(); ; answer = await attempt()) {
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw ranOut(`not within ${seconds * patience} s: ${what}`, lastError);
    await sleep(pauseAfter(performance.now() - began));
  }
}

/** The error of a wait at its deadline: the failed expectation of the last attempt, or a WaitTimeout. */
export const ranOut = (message: string, cause: unknown): unknown =>
  isAssertion(cause) ? cause : new WaitTimeout(message, { cause });

export const isAssertion = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'AssertionError';

/** Pauses grow with the wait, because an attempt may be a kubectl call and stories share two cores. */
const pauseAfter = (waitedMillis: number): number => Math.min(Math.max(waitedMillis / 10, 100), 500);
