import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skipReasonIn } from './place.ts';
import { shortStories } from './short-stories.ts';
import type { Declared } from './story-catalog.ts';

const list = join(import.meta.dirname, '../../tools/check/list-stories.ts');
const stories = JSON.parse(execFileSync(process.execPath, [list], { encoding: 'utf8' })) as readonly Declared[];

it('every short story runs on the lab', () => {
  const onLab = new Set(
    stories.filter(({ where }) => skipReasonIn(where, 'the lab') === undefined).map(({ title }) => title),
  );
  expect(shortStories.filter((title) => !onLab.has(title))).toEqual([]);
});

it('story titles are unique, because they are the keys of the ledger', () => {
  const titles = stories.map(({ title }) => title);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});
