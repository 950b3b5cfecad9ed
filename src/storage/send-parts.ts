import type { Part } from './parts.ts';

interface Sending<T> {
  readonly atOnce: number;
  readonly signal: AbortSignal;
  readonly send: (part: Part, signal: AbortSignal) => Promise<T>;
}

/** Sends parts, several at once, and returns the answers in the order of the parts. The first failure ends all of them. */
export async function sendParts<T>(
  parts: AsyncGenerator<Part, void, undefined>,
  { atOnce, signal: outer, send }: Sending<T>,
): Promise<readonly T[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const answers: T[] = [];
  const sender = async (): Promise<void> => {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      signal.throwIfAborted();
      answers[next.value.number - 1] = await send(next.value, signal);
      next.value.release();
    }
  };
  let failure: { readonly thrown: unknown } | undefined;
  const senders = Array.from({ length: atOnce }, () =>
    sender().catch((thrown: unknown) => {
      failure ??= { thrown }; // the others then fail because they are called off
      failed.abort();
    }),
  );
  await Promise.all(senders);
  outer.throwIfAborted();
  if (failure !== undefined) throw failure.thrown;
  return answers;
}
