import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** Every program of the project, by the name of its file in `src/main`. */
export const programs = ['etcd-operator'] as const;

export const bundleOf = (program: (typeof programs)[number]): string => join(root, 'dist', `${program}.mjs`);

export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Packages written for `require` find it, and the bundle can be started by its name. */
const banner = [
  '#!/usr/local/bin/node --max-semi-space-size=4',
  "import { createRequire as makeRequire } from 'node:module';",
  'const require = makeRequire(import.meta.url);',
].join('\n');

/** What programs share, and what they load only when it is asked for: the libraries of the stores among it. */
export const chunksDirectory = join(root, 'dist', 'chunks');

/** Makes a few files of each program: they start faster than its hundreds of sources and are all that an image needs. */
export async function bundle(): Promise<void> {
  await rm(chunksDirectory, { recursive: true, force: true });
  await mkdir(join(root, 'dist'), { recursive: true });
  for (const program of programs) {
    await build({
      absWorkingDir: root,
      entryPoints: [join('src/main', `${program}.ts`)],
      outdir: 'dist',
      outExtension: { '.js': '.mjs' },
      chunkNames: 'chunks/[name]-[hash]',
      splitting: true,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      banner: { js: banner },
      define: { bundledVersion: JSON.stringify(await packageVersion()) },
      legalComments: 'none',
      preserveSymlinks: true, // where the packages really lie must not show in the bundle
      logLevel: 'warning',
    });
    await chmod(bundleOf(program), 0o755);
  }
}
