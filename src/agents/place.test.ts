import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { placed } from './place.ts';

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

it('puts a restored data directory in its place, and leaves nothing else', async () => {
  make(join(staging(), 'data'), 'restored');
  expect(await placed({ staging: staging(), to: to() })).toMatchObject({ ok: true, placed: true });
  expect(content()).toBe('restored');
  expect(existsSync(staging())).toBe(false);
});

it('puts it onto the volume itself, where that is the data directory', async () => {
  make(join(staging(), 'data'), 'restored');
  expect(await placed({ staging: staging(), to: volume })).toMatchObject({ ok: true, placed: true });
  expect(readFileSync(join(volume, 'member', 'db'), 'utf8')).toBe('restored');
  expect(existsSync(staging())).toBe(false);
});

it('never replaces what etcd works with already', async () => {
  make(to(), 'newer');
  make(join(staging(), 'data'), 'restored again');
  expect(await placed({ staging: staging(), to: to() })).toMatchObject({ ok: true, placed: false });
  expect(content()).toBe('newer');
  expect(existsSync(staging())).toBe(false);
});

it('says so where there is nothing to place', async () => {
  expect(await placed({ staging: staging(), to: to() })).toMatchObject({ ok: false });
});
