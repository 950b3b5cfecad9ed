import { retryAfterOf } from '../kube/errors.ts';
import { type Backoff, backoffSeconds, type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';

const backoff: Backoff = { firstSeconds: 0.5, mostSeconds: 5 };

export interface RetryOptions {
  readonly clock: Clock;
  /** Called with the first failure only. */
  readonly onFailure: (failure: Failure) => void;
}

/**
 * Repeats a request while the API server is unreachable. Throws other failures. Undefined if `signal` aborts before an
 * answer.
 */
export async function untilAnswered<T>(
  request: () => Promise<T>,
  { clock, onFailure }: RetryOptions,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let tries = 1; !signal.aborted; tries++) {
    const result = await request().then((answer) => ({ answer }), unreachable);
    if ('answer' in result) return result.answer;
    if (tries === 1 && !signal.aborted) onFailure(result.failure);
    const seconds = Math.max(backoffSeconds(clock, backoff, tries), retryAfterOf(result.failure) ?? 0);
    await pause(clock, seconds * 1000, signal);
  }
  return undefined;
}

function unreachable(thrown: unknown): { readonly failure: Failure } {
  const failure = Failure.from(thrown);
  if (failure.kind !== 'unreachable') throw thrown;
  return { failure };
}
