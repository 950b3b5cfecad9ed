import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** Every program of the project, by the name of its file in `src/operator`. */
export const programs = ['etcd-operator'] as const;

/** Other names of the first program. Under such a name it acts as the original operator's program of that name. */
export const otherNames = ['etcd-backup-operator', 'etcd-restore-operator'] as const;

/** The directory of the programs, and of the chunks that they share or load on demand. */
export const bundleDirectory = join(root, 'dist/app');

/** The directory of the bundle that `make test` builds for its stories while other suites run. */
export const storiesBundleDirectory = join(root, 'dist/stories');

export const bundleOf = (program: (typeof programs)[number], directory = bundleDirectory): string =>
  join(directory, `${program}.mjs`);

export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Defines `require` for CommonJS packages, and makes the bundle executable. The garbage of a pass is short-lived: a
 * small semi-space saves memory, where V8 would let 48 MiB of it accumulate.
 */
const banner = [
  '#!/usr/local/bin/node --max-semi-space-size=4',
  "import { createRequire as makeRequire } from 'node:module';",
  'const require = makeRequire(import.meta.url);',
].join('\n');

/**
 * Bundles hundreds of sources into a few files. Dynamic imports become files of their own, because loaded code stays in
 * memory. Names are kept for stack traces.
 */
export const recipe = async (): Promise<BuildOptions> => ({
  absWorkingDir: root,
  entryPoints: programs.map((program) => join('src/operator', `${program}.ts`)),
  outdir: bundleDirectory,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  banner: { js: banner },
  define: { bundledVersion: JSON.stringify(await packageVersion()) },
  legalComments: 'none',
  external: ['supports-color'], // optional for `debug`, and installed by development packages only
  preserveSymlinks: true, // keeps real paths of packages out of the bundle
  logLevel: 'warning',
});

/** Builds the bundle into a directory and returns its metafile. */
export async function bundle(directory = bundleDirectory): Promise<Metafile> {
  await rm(directory, { recursive: true, force: true });
  const { metafile } = await build({ ...(await recipe()), outdir: directory, metafile: true });
  for (const program of programs) await chmod(bundleOf(program, directory), 0o755);
  return metafile;
}
