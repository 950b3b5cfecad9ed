import { describe, expect, it } from 'vitest';
import { linesOf } from './watch-events.ts';

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function lines(text: string, size: number): Promise<string[]> {
  const read: string[] = [];
  for await (const line of linesOf(chunksOf(text, size))) read.push(line);
  return read;
}

describe('lines', () => {
  it.each([1, 2, 3, 5, 100])('are complete however the stream is split: every %i bytes', async (size) => {
    expect(await lines('{"a":"é😀"}\n{"b":2}\n\n{"c":3}\n', size)).toEqual(['{"a":"é😀"}', '{"b":2}', '', '{"c":3}']);
    expect(await lines('', size)).toEqual([]);
  });

  it('are yielded up to a truncated line, which is a failure', async () => {
    const read: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const line of linesOf(chunksOf('{"a":1}\n{"b":', 4))) read.push(line);
    };
    await expect(reading()).rejects.toThrow('broke off in the middle of a line');
    expect(read).toEqual(['{"a":1}']);
  });
});
