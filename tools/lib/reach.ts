import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultsDirectory, type Tally } from './suites.ts';

/** Where the contract writes which files of the lab's API server it has reached. */
export const reachedFile = join(resultsDirectory, 'reached-by-the-contract.json');

const apiserver = join(import.meta.dirname, '../../src/lab/apiserver');

/** Files that hold no function of their own, so that nobody can see them at work. */
const tables = new Set(['verbs/subresources.ts']);

/** What no test of the contract reaches is there for nobody, or is there unproved. */
export function everyFileIsReached(): Tally {
  const reached = new Set(JSON.parse(readFileSync(reachedFile, 'utf8')) as readonly string[]);
  const missed = filesThatDo(apiserver).filter((file) => !reached.has(file) && !tables.has(file));
  if (missed.length === 0) return { passed: 1, failed: 0 };
  process.stderr.write(`no contract test reaches, in src/lab/apiserver: ${missed.join(', ')}\n`);
  return { passed: 0, failed: 1 };
}

/** Source files with something in them but types. */
export const filesThatDo = (directory: string): readonly string[] =>
  globSync('**/*.ts', { cwd: directory })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) =>
      /^(?:export )?(?:async )?(?:function|class|const)\b/m.test(readFileSync(join(directory, file), 'utf8')),
    )
    .toSorted();
