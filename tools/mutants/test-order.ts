import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import config from '../../vitest.config.ts';

/** The files that each file imports, without imports of types. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The imports between all sources and tests below `root`. */
export function readImports(root: string): Imports {
  const files = globSync('{src,lab,test,tools,bench}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] });
  return new Map(files.map((file) => [file, importsIn(file, readFileSync(join(root, file), 'utf8'))]));
}

export function importsIn(file: string, text: string): readonly string[] {
  const values = text.replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  const targets = values.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g);
  return [...targets].map(([, target = '']) => join(dirname(file), target));
}

/** The files that import `source`, with the number of imports between them. */
export function distancesTo(source: string, imports: Imports): ReadonlyMap<string, number> {
  const distances = new Map([[source, 0]]);
  for (const [target, distance] of distances) {
    const importers = [...imports].filter(([file, targets]) => targets.includes(target) && !distances.has(file));
    for (const [file] of importers) distances.set(file, distance + 1);
  }
  return distances;
}

/** The number of test files that run at once: few tests detect most bugs. */
const portions = [1, 5, 15, 40] as const;

/**
 * The test files that reach `source`, in the order in which they run: the test beside the source first, then those that
 * import it by the shortest way.
 */
export function portionsFor(source: string, tests: readonly string[], imports: Imports): readonly string[][] {
  const distances = distancesTo(source, imports);
  const near = tests.filter((test) => distances.has(test));
  const rank = (test: string): number => (distances.get(test) ?? 0) * 4 - nearness(test, source);
  const inOrder = near.toSorted((a, b) => rank(a) - rank(b));
  const chosen = portions.map((size) => inOrder.splice(0, size));
  return [...chosen, inOrder].filter((portion) => portion.length > 0);
}

const nearness = (test: string, source: string): number =>
  Number(test === source.replace(/ts$/, 'test.ts')) * 2 + Number(dirname(test) === dirname(source));

/** The test of all mutants fails with each of them. */
const ownTest = 'test/mutants.test.ts';

/** All files of the project `unit`, which includes the simulation. */
export function unitTests(root: string): readonly string[] {
  const projects = (config.test?.projects ?? []) as readonly { readonly test: { name: string; include: string[] } }[];
  const include = projects.find(({ test }) => test.name === 'unit')?.test.include ?? [];
  return globSync(include, { cwd: root, exclude: ['**/node_modules'] })
    .filter((file) => file !== ownTest)
    .toSorted();
}
