import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { placeDataDirectory } from './place.ts';

let volume = '';
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), 'place-'));
});
afterEach(() => rmSync(volume, { recursive: true }));

const staging = (): string => join(volume, 'restore');
const to = (): string => join(volume, 'data');
const make = (directory: string, content: string): void => {
  mkdirSync(join(directory, 'member'), { recursive: true });
  writeFileSync(join(directory, 'member', 'db'), content);
};
const content = (): string => readFileSync(join(to(), 'member', 'db'), 'utf8');

it('a restored data directory is moved to its place, and the staging directory is deleted', async () => {
  make(join(staging(), 'data'), 'restored');
  expect(await placeDataDirectory({ staging: staging(), to: to() })).toMatchObject({ ok: true, placed: true });
  expect(content()).toBe('restored');
  expect(existsSync(staging())).toBe(false);
});

it('a restored data directory is moved onto the volume itself if the volume is the data directory', async () => {
  make(join(staging(), 'data'), 'restored');
  expect(await placeDataDirectory({ staging: staging(), to: volume })).toMatchObject({ ok: true, placed: true });
  expect(readFileSync(join(volume, 'member', 'db'), 'utf8')).toBe('restored');
  expect(existsSync(staging())).toBe(false);
});

it('a data directory that etcd already uses is never replaced', async () => {
  make(to(), 'newer');
  make(join(staging(), 'data'), 'restored again');
  expect(await placeDataDirectory({ staging: staging(), to: to() })).toMatchObject({ ok: true, placed: false });
  expect(content()).toBe('newer');
  expect(existsSync(staging())).toBe(false);
});

it('placing fails if there is no restored data directory', async () => {
  expect(await placeDataDirectory({ staging: staging(), to: to() })).toMatchObject({ ok: false });
});
