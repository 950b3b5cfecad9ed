import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** Every program of the project, by the name of its file in `src/main`. */
export const programs = ['etcd-operator'] as const;

/** Other names under which the first of them is called: it then does what the original's program of that name does. */
export const otherNames = ['etcd-backup-operator', 'etcd-restore-operator'] as const;

/** Where the programs are, and the parts that they share or load only when they need them. */
export const bundleDirectory = join(root, 'dist/app');

/** Where `make test` makes a bundle for its stories, while other suites run. */
export const storiesBundleDirectory = join(root, 'dist/stories');

export const bundleOf = (program: (typeof programs)[number], directory = bundleDirectory): string =>
  join(directory, `${program}.mjs`);

export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Packages written for `require` find it, and the bundle can be started by its name. What a pass makes is garbage when it
 * ends; V8 would let 48 MiB of that pile up before it looks, which for the little there is to copy is of no use.
 */
const banner = [
  '#!/usr/local/bin/node --max-semi-space-size=4',
  "import { createRequire as makeRequire } from 'node:module';",
  'const require = makeRequire(import.meta.url);',
].join('\n');

/**
 * A few files of hundreds of sources. What a program imports only when it has to is a file of its own, since all that is
 * read stays in memory. Names are kept, for the sake of stack traces.
 */
export const recipe = async (): Promise<BuildOptions> => ({
  absWorkingDir: root,
  entryPoints: programs.map((program) => join('src/main', `${program}.ts`)),
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
  preserveSymlinks: true, // where the packages really lie must not show in the bundle
  logLevel: 'warning',
});

/** Makes all that an image needs beside Node; for tests, in a directory of theirs. Gives back what the bundle was made from. */
export async function bundle(directory = bundleDirectory): Promise<Metafile> {
  await rm(directory, { recursive: true, force: true });
  const { metafile } = await build({ ...(await recipe()), outdir: directory, metafile: true });
  for (const program of programs) await chmod(bundleOf(program, directory), 0o755);
  return metafile;
}
