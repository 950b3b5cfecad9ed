import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writePayload } from './payload.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'payload-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = (path: string, content: string) => ({ path, content: Buffer.from(content), mode: 0o644 });

it('all files of a volume are replaced at once', async () => {
  await writePayload(directory, [file('a', 'old'), file('b', 'old')]);
  await writePayload(directory, [file('a', 'new')]);
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('new');
  expect(readdirSync(directory).filter((name) => !name.startsWith('..'))).toEqual(['a']);
});

it('files are written although a lab was killed between creating and moving the ..data link', async () => {
  await writePayload(directory, [file('a', 'old')]);
  symlinkSync('..never-finished', join(directory, '..data.new'));
  await writePayload(directory, [file('a', 'new')]);
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('new');
});

it('files written twice in a millisecond are kept', async () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(1);
  await writePayload(directory, [file('a', 'old')]);
  await writePayload(directory, [file('a', 'new')]);
  clock.mockRestore();
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('new');
});
