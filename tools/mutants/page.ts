import type { Mutant } from '../../test/mutants/mutant.ts';
import type { MutantResult } from './examine.ts';

/** The last result of a mutant. */
export interface Row {
  readonly name: string;
  readonly bug: string;
  readonly detectedBy: string;
  readonly suite: string;
  /** Date and commit of the run. */
  readonly run: string;
}

const head = ['mutant', 'the bug', 'detected by', 'suite', 'run'];

/** The page with the last result of each mutant: of this run, or else of an earlier run. */
export function pageOf(mutants: readonly Mutant[], results: readonly Row[], before: string): string {
  const known = new Map([...rowsIn(before), ...results].map((row) => [row.name, row]));
  const rows = mutants.map(({ name, plants: bug }) => ({ ...(known.get(name) ?? notRun), name, bug }));
  const count = (suite: string): number => rows.filter((row) => row.suite === suite).length;
  return [
    '# Planted bugs',
    '',
    '`make mutants` plants one bug at a time into a copy of the source, runs unit tests and simulation until the first test',
    'fails, and writes this page. The bugs are in `test/mutants/all.ts` and the files beside it. A bug that no test detects',
    'is a bug in the tests.',
    '',
    '| planted | detected by unit tests | by the simulation | only by a story | by no test |',
    '| --- | --- | --- | --- | --- |',
    line([rows.length, count('unit'), count('simulation'), count('story'), count('none')].map(String)),
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map((row) => line([row.name, row.bug, row.detectedBy, row.suite, row.run])),
    '',
  ].join('\n');
}

const notRun = { detectedBy: 'not run yet', suite: 'none', run: '' };

/** The rows of an earlier page. */
function rowsIn(page: string): readonly Row[] {
  return page.split('\n').flatMap((text): readonly Row[] => {
    const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const [, name, bug = '', detectedBy = '', suite = '', run = ''] = cells;
    return cells.length !== head.length + 2 || name === undefined ? [] : [{ name, bug, detectedBy, suite, run }];
  });
}

const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;

const escaped = (cell: string): string => cell.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

/** The suite that detects a bug. */
export function detectingSuite({ mutant, killer, problem }: MutantResult): 'unit' | 'simulation' | 'story' | 'none' {
  if (killer === undefined || problem !== undefined) return mutant.onlyInStory === undefined ? 'none' : 'story';
  return killer.file.startsWith('test/simulation/') ? 'simulation' : 'unit';
}

export function rowOf(ended: MutantResult, run: string): Row {
  const { mutant, killer, problem } = ended;
  const suite = detectingSuite(ended);
  const isDetected = suite === 'unit' || suite === 'simulation';
  const detectedBy = isDetected ? `${killer?.title} (${killer?.file})` : (problem ?? mutant.onlyInStory ?? 'no test');
  return { name: mutant.name, bug: mutant.plants, detectedBy, suite, run };
}
