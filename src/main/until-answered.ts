import { retryAfterOf } from '../kube/errors.ts';
import { type Backoff, backoffSeconds, type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';

const backoff: Backoff = { firstSeconds: 0.5, mostSeconds: 5 };

export interface Asking {
  readonly clock: Clock;
  /** Called with the first failure only. */
  readonly onTrouble: (failure: Failure) => void;
}

/** Repeats a call while the API server is unreachable. Other failures are thrown; undefined if `signal` aborted before an answer. */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  { clock, onTrouble }: Asking,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let tries = 1; !signal.aborted; tries++) {
    const asked = await ask().then((answer) => ({ answer }), unreachable);
    if ('answer' in asked) return asked.answer;
    if (tries === 1 && !signal.aborted) onTrouble(asked.failure);
    const seconds = Math.max(backoffSeconds(clock, backoff, tries), retryAfterOf(asked.failure) ?? 0);
    await pause(clock, seconds * 1000, signal);
  }
  return undefined;
}

function unreachable(thrown: unknown): { readonly failure: Failure } {
  const failure = Failure.from(thrown);
  if (failure.kind !== 'unreachable') throw thrown;
  return { failure };
}
