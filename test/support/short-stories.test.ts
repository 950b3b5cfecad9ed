import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { whyNotHere } from './place.ts';
import { shortStories } from './short-stories.ts';
import type { Declared } from './story-catalog.ts';

const list = join(import.meta.dirname, '../../tools/check/list-stories.ts');
const stories = JSON.parse(execFileSync(process.execPath, [list], { encoding: 'utf8' })) as readonly Declared[];

it('every short story is one that the lab tells', () => {
  const told = new Set(
    stories.filter(({ where }) => whyNotHere(where, 'the lab') === undefined).map(({ title }) => title),
  );
  expect(shortStories.filter((title) => !told.has(title))).toEqual([]);
});

it('no two stories have the same title: a title is what the ledger knows a story by', () => {
  const titles = stories.map(({ title }) => title);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});
