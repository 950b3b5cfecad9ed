import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { keyOf } from '../lib/cache.ts';

const root = join(import.meta.dirname, '../..');

/** What goes into every suite, because every build reads it. */
const always = ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'tools/programs/catalog.ts'];

/** What decides how every suite is run and counted; all that they import goes in with them. */
const runners = ['vitest.config.ts', 'tools/check/suites.ts'];

/** A suite's tests, and what they use without importing it: programs they start, files they read. */
export interface Sources {
  readonly tests: readonly string[];
  readonly besides?: readonly string[];
}

/** A hash of all that goes into a suite. */
export async function hashOfInputs(sources: Sources): Promise<string> {
  return keyOf(...(await inputsOf(sources)).flatMap((file) => [file, readFileSync(join(root, file))]));
}

/** The files that go into a suite: its tests, whatever they import, and what they use besides. */
export async function inputsOf({ tests, besides = [] }: Sources): Promise<readonly string[]> {
  const entryPoints = [...globSync(tests, { cwd: root }), ...runners].toSorted();
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints, bundle: true, write: false, metafile: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', outdir: 'dist', logLevel: 'error' },
  });
  const others = globSync([...besides, ...always], { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  return [...new Set([...Object.keys(metafile.inputs), ...others])].toSorted();
}
