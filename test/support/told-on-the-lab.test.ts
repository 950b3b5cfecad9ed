import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { toldAloneOnTheLab, toldOnTheLab } from './told-on-the-lab.ts';

const directory = join(import.meta.dirname, '../e2e');
const clustersOnly = new Set(['onClusters', 'onOurCluster']);

/** The words by which the stories of a file say where they are told; the plain `story` is an empty one. */
function wordsIn(file: string): readonly string[] {
  const text = readFileSync(join(directory, file), 'utf8')
    .replaceAll(/^import .*$|^ *(\/\*\*|\*|\/\/).*$|typeof story\.\w+/gm, '')
    .replaceAll(/inBothApis\(/g, 'story.asOnTheLab, '); // of which one is told there in any case
  return [...text.matchAll(/\bstory(?:\.(\w+)\b|(?=\s*[(,]))/g)].map(([, word = '']) => word);
}

const isToldThere = (file: string): boolean => wordsIn(file).some((word) => !clustersOnly.has(word));
const namesOf = (pattern: string): readonly string[] => globSync(pattern, { cwd: directory });

it('finds a word in every file of stories', () => {
  const files = namesOf('*.e2e.ts');
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => wordsIn(file).length === 0)).toEqual([]);
});

it('is a list of all files with a story whose word does not keep it from the lab, and of no others', () => {
  const told = namesOf('*.e2e.ts').filter(isToldThere);
  const [alone, together] = [true, false].map((isAlone) =>
    told
      .filter((file) => file.endsWith('.alone.e2e.ts') === isAlone)
      .map((file) => basename(file, isAlone ? '.alone.e2e.ts' : '.e2e.ts'))
      .toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(together).toEqual(toldOnTheLab);
  expect(alone).toEqual(toldAloneOnTheLab);
});
