import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultsDirectory, type Tally } from './suites.ts';

/** The file in which the contract suite lists the executed source files of the lab's API server. */
export const reachedFile = join(resultsDirectory, 'reached-by-the-contract.json');

const apiserver = join(import.meta.dirname, '../../lab/apiserver');

/** Files without functions: their execution cannot be observed. */
const tables = new Set(['verbs/subresources.ts']);

/** Fails if a source file of the lab's API server is executed by no contract test. */
export function checkEveryFileIsReached(): Tally {
  const reached = new Set(JSON.parse(readFileSync(reachedFile, 'utf8')) as readonly string[]);
  const missed = filesWithCode(apiserver).filter((file) => !reached.has(file) && !tables.has(file));
  if (missed.length === 0) return { passed: 1, failed: 0 };
  process.stderr.write(`files in lab/apiserver that no contract test executes: ${missed.join(', ')}\n`);
  return { passed: 0, failed: 1 };
}

/** Source files with code, not only types. */
export const filesWithCode = (directory: string): readonly string[] =>
  globSync('**/*.ts', { cwd: directory })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) =>
      /^(?:export )?(?:async )?(?:function|class|const)\b/m.test(readFileSync(join(directory, file), 'utf8')),
    )
    .toSorted();
