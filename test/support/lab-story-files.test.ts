import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { runAloneOnTheLab, runOnTheLab } from './lab-story-files.ts';

const directory = join(import.meta.dirname, '../e2e');
const clustersOnly = new Set(['onClusters', 'onOurCluster']);

/** The functions that declare the stories of a file; the plain `story` is an empty string. */
function functionsIn(file: string): readonly string[] {
  const text = readFileSync(join(directory, file), 'utf8')
    .replaceAll(/^import .*$|^ *(\/\*\*|\*|\/\/).*$|typeof story\.\w+/gm, '')
    .replaceAll(/inBothApis\(/g, 'story.asOnTheLab, '); // one of the two stories always runs on the lab
  return [...text.matchAll(/\bstory(?:\.(\w+)\b|(?=\s*[(,]))/g)].map(([, word = '']) => word);
}

const runsOnLab = (file: string): boolean => functionsIn(file).some((word) => !clustersOnly.has(word));
const namesOf = (pattern: string): readonly string[] => globSync(pattern, { cwd: directory });

it('every story file declares a story', () => {
  const files = namesOf('*.e2e.ts');
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => functionsIn(file).length === 0)).toEqual([]);
});

it('the lists contain exactly the files with a story that runs on the lab', () => {
  const onLab = namesOf('*.e2e.ts').filter(runsOnLab);
  const [alone, together] = [true, false].map((isAlone) =>
    onLab
      .filter((file) => file.endsWith('.alone.e2e.ts') === isAlone)
      .map((file) => basename(file, isAlone ? '.alone.e2e.ts' : '.e2e.ts'))
      .toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(together).toEqual(runOnTheLab);
  expect(alone).toEqual(runAloneOnTheLab);
});
