import { describe, expect, it } from 'vitest';
import type { Part } from './parts.ts';
import { sendParts } from './send-parts.ts';

/** Parts without an end, from a source that notes when it is closed. */
function endless(onClose: () => void): AsyncGenerator<Part, void, undefined> {
  return (async function* () {
    try {
      for (let number = 1; ; number++) yield { number, bytes: Buffer.of(1), isLast: false, release: () => undefined };
    } finally {
      onClose();
    }
  })();
}

describe('parts that are sent', () => {
  const refused = new Error('no');

  it.each([1, 3])('close their source when one of them fails, %s at once', async (atOnce) => {
    let isOpen = true;
    const send = async ({ number }: Part): Promise<void> => {
      if (number === 5) throw refused;
    };
    const parts = endless(() => (isOpen = false));
    const { signal } = new AbortController();
    await expect(sendParts(parts, { atOnce, signal, send })).rejects.toBe(refused);
    expect(isOpen).toBe(false);
  });

  it('close their source when they are called off', async () => {
    let isOpen = true;
    const stop = new AbortController();
    const send = async ({ number }: Part): Promise<void> => {
      if (number === 5) stop.abort(refused);
    };
    const parts = endless(() => (isOpen = false));
    await expect(sendParts(parts, { atOnce: 3, signal: stop.signal, send })).rejects.toBe(refused);
    expect(isOpen).toBe(false);
  });

  it('fail with what failed, also when their source cannot be closed', async () => {
    const parts = endless(() => {
      throw new Error('cannot be closed');
    });
    const send = (): Promise<never> => Promise.reject(refused);
    const { signal } = new AbortController();
    await expect(sendParts(parts, { atOnce: 3, signal, send })).rejects.toBe(refused);
  });
});
