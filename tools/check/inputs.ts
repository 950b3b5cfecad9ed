import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { keyOf } from '../lib/cache.ts';

const root = join(import.meta.dirname, '../..');

/** What goes into every suite. */
const always = ['package.json', 'package-lock.json', 'vitest.config.ts', 'tools/programs/catalog.ts'];

/** A suite's tests, and what they use without importing it: programs they start, files they read. */
export interface Sources {
  readonly tests: readonly string[];
  readonly besides?: readonly string[];
}

/** A hash of all that goes into a suite: its tests, whatever they import, and what they use besides. */
export async function hashOfInputs({ tests, besides = [] }: Sources): Promise<string> {
  const entryPoints = [...globSync(tests, { cwd: root })].toSorted();
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints, bundle: true, write: false, metafile: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', outdir: 'dist', logLevel: 'error' },
  });
  const others = globSync([...besides, ...always], { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  const files = new Set([...Object.keys(metafile.inputs), ...others]);
  return keyOf(...[...files].toSorted().flatMap((file) => [file, readFileSync(join(root, file))]));
}
