import type { Part } from './parts.ts';

interface Sending<T> {
  readonly atOnce: number;
  readonly signal: AbortSignal;
  readonly send: (part: Part, signal: AbortSignal) => Promise<T>;
}

type Parts = AsyncGenerator<Part, void, undefined>;

/** Closes the source of parts. Errors are ignored, so that they do not hide the failure that ended the upload. */
export async function closeSource(parts: Parts): Promise<void> {
  await parts.return().catch(() => undefined);
}

/**
 * Sends parts, several in parallel, and returns the answers in the order of the parts. The first failure ends all
 * senders and closes the source.
 */
export async function sendParts<T>(parts: Parts, { atOnce, signal: outer, send }: Sending<T>): Promise<readonly T[]> {
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
      failure ??= { thrown }; // later failures are only results of the abort
      failed.abort();
    }),
  );
  await Promise.all(senders);
  if (failure !== undefined) await closeSource(parts);
  outer.throwIfAborted();
  if (failure !== undefined) throw failure.thrown;
  return answers;
}
