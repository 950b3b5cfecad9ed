import { once } from 'node:events';

/** Kept when a signal aborts, and at once where it did so before: an event that has passed comes to nobody. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
