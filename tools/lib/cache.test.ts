import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf, makeWhole } from './cache.ts';

describe('a directory that is made whole', () => {
  const place = mkdtempSync(join(tmpdir(), 'whole-'));
  afterAll(() => rmSync(place, { recursive: true }));

  it('is not there when making it failed, and a later try does not see the remains', async () => {
    const target = join(place, 'target');
    const half = makeWhole(target, async (directory) => {
      writeFileSync(join(directory, 'half'), '');
      throw new Error('cut off');
    });
    await expect(half).rejects.toThrow('cut off');
    expect(existsSync(target)).toBe(false);
    await makeWhole(target, async (directory) => writeFileSync(join(directory, 'all'), ''));
    expect(readdirSync(target)).toEqual(['all']);
  });
});

describe('a key', () => {
  it('changes with every input, and with where one ends and the next begins', () => {
    expect(new Set([keyOf('a', 'b'), keyOf('ab'), keyOf('a'), keyOf('b', 'a')]).size).toBe(4);
    expect(keyOf('a', 'b')).toBe(keyOf('a', Buffer.from('b')));
  });
});
