import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { keyOf } from '../lib/cache.ts';

const root = join(import.meta.dirname, '../..');

/** Inputs of every suite, because every build reads them. */
const always = [
  ...['package.json', 'lab/package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'],
  'tools/programs/catalog.ts',
];

/** The files that decide how suites run and count. Their imports are inputs too. */
const runners = ['vitest.config.ts', 'tools/check/suites.ts'];

/** The tests of a suite, and what they use without importing it: started programs, files. */
export interface Sources {
  readonly tests: readonly string[];
  readonly besides?: readonly string[];
}

/** The hash of a suite's inputs. */
export async function hashOfInputs(sources: Sources): Promise<string> {
  return keyOf(...(await inputsOf(sources)).flatMap((file) => [file, readFileSync(join(root, file))]));
}

/** The input files of a suite: its tests, their imports, and `besides`. */
export async function inputsOf({ tests, besides = [] }: Sources): Promise<readonly string[]> {
  const entryPoints = [...globSync(tests, { cwd: root }), ...runners].toSorted();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'dist',
    logLevel: 'error',
  });
  const others = globSync([...besides, ...always], { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  return [...new Set([...Object.keys(metafile.inputs), ...others])].toSorted();
}
