import { describe, expect, it } from 'vitest';
import { collectingEarly } from './collect-early.ts';

const mebibyte = 1024 * 1024;

async function* parts(count: number, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(i);
}

describe('a large body whose parts are collected early', () => {
  it('arrives as it was, in the same parts', async () => {
    const seen = await Array.fromAsync(collectingEarly(parts(20, mebibyte)), (part) => [part.byteLength, part[7]]);
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => [mebibyte, i]));
  });

  it('does not pile up in memory while it is read', async () => {
    let most = 0;
    for await (const _part of collectingEarly(parts(4096, mebibyte / 16)))
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    expect(most).toBeLessThan(process.memoryUsage().arrayBuffers + 64 * mebibyte);
  });

  it('ends its source when nobody reads on', async () => {
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
