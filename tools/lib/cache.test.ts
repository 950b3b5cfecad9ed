import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf, makeAtomically } from './cache.ts';

describe('makeAtomically', () => {
  const place = mkdtempSync(join(tmpdir(), 'whole-'));
  afterAll(() => rmSync(place, { recursive: true }));

  it('leaves no directory after a failure, and a retry starts empty', async () => {
    const target = join(place, 'target');
    const half = makeAtomically(target, async (directory) => {
      writeFileSync(join(directory, 'half'), '');
      throw new Error('cut off');
    });
    await expect(half).rejects.toThrow('cut off');
    expect(existsSync(target)).toBe(false);
    await makeAtomically(target, async (directory) => writeFileSync(join(directory, 'all'), ''));
    expect(readdirSync(target)).toEqual(['all']);
  });
});

describe('makeAtomically beside another process', () => {
  const place = mkdtempSync(join(tmpdir(), 'raced-'));
  afterAll(() => rmSync(place, { recursive: true }));

  it('keeps the directory that the other has made', async () => {
    const target = join(place, 'target');
    await makeAtomically(target, async (directory) => {
      writeFileSync(join(directory, 'mine'), '');
      mkdirSync(target);
      writeFileSync(join(target, 'theirs'), '');
    });
    expect([readdirSync(target), readdirSync(place)]).toEqual([['theirs'], ['target']]);
  });
});

describe('keyOf', () => {
  it('changes with every input, and with the boundaries between inputs', () => {
    expect(new Set([keyOf('a', 'b'), keyOf('ab'), keyOf('a'), keyOf('b', 'a')]).size).toBe(4);
    expect(keyOf('a', 'b')).toBe(keyOf('a', Buffer.from('b')));
  });
});
