import { describe, expect, it } from 'vitest';
import type { Part } from './parts.ts';
import { sendParts } from './send-parts.ts';

/** Endless parts from a source that reports its close. */
function endless(onClose: () => void): AsyncGenerator<Part, void, undefined> {
  return (async function* () {
    try {
      for (let number = 1; ; number++) yield { number, bytes: Buffer.of(1), isLast: false, release: () => undefined };
    } finally {
      onClose();
    }
  })();
}

describe('sending parts', () => {
  const refused = new Error('no');

  it.each([1, 3])('closes the source if a part fails, with %s in parallel', async (atOnce) => {
    let isOpen = true;
    const send = async ({ number }: Part): Promise<void> => {
      if (number === 5) throw refused;
    };
    const parts = endless(() => (isOpen = false));
    const { signal } = new AbortController();
    await expect(sendParts(parts, { atOnce, signal, send })).rejects.toBe(refused);
    expect(isOpen).toBe(false);
  });

  it('closes the source on abort', async () => {
    let isOpen = true;
    const stop = new AbortController();
    const send = async ({ number }: Part): Promise<void> => {
      if (number === 5) stop.abort(refused);
    };
    const parts = endless(() => (isOpen = false));
    await expect(sendParts(parts, { atOnce: 3, signal: stop.signal, send })).rejects.toBe(refused);
    expect(isOpen).toBe(false);
  });

  it('fails with the error of the part, even if the source cannot be closed', async () => {
    const parts = endless(() => {
      throw new Error('cannot be closed');
    });
    const send = (): Promise<never> => Promise.reject(refused);
    const { signal } = new AbortController();
    await expect(sendParts(parts, { atOnce: 3, signal, send })).rejects.toBe(refused);
  });
});
