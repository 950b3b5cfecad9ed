import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { collectingEarly } from './collect-early.ts';

const mebibyte = 1024 * 1024;

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as NodeJS.GCFunction)();
}

async function* parts(count: number, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(i);
}

describe('a large body with early garbage collection', () => {
  it('arrives unchanged, in the same parts', async () => {
    const seen = await Array.fromAsync(collectingEarly(parts(20, mebibyte)), (part) => [part.byteLength, part[7]]);
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => [mebibyte, i]));
  });

  it('does not fill the memory while it is read', async () => {
    collectGarbage(); // of earlier test files in this process
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for await (const _part of collectingEarly(parts(4096, mebibyte / 16)))
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    expect(most).toBeLessThan(before + 64 * mebibyte);
  });

  it('closes its source if the reader stops', async () => {
    let isEnded = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* parts(3, 1);
      } finally {
        isEnded = true;
      }
    }
    for await (const _part of collectingEarly(source())) break;
    expect(isEnded).toBe(true);
  });
});
