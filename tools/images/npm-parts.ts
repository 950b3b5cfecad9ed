import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { type Hash, inOrder, type Part, purlOf, type Text } from './parts.ts';

const root = join(import.meta.dirname, '../..');
const folder = 'node_modules/';

/** The directory of the npm package of a bundled source; undefined for our own sources. */
export function packageOf(source: string): string | undefined {
  const end = source.lastIndexOf(folder);
  if (end < 0) return undefined;
  const [first = '', second = ''] = source.slice(end + folder.length).split('/');
  return source.slice(0, end + folder.length) + (first.startsWith('@') ? `${first}/${second}` : first);
}

interface Packages {
  readonly parts: readonly Part[];
  /** References of the packages that our own sources import. */
  readonly direct: readonly string[];
}

/** Every npm package with a source in the bundle. */
export async function npmParts({ inputs }: Metafile): Promise<Packages> {
  const needed = needsOf(inputs);
  const directories = [...needed.keys()].filter((directory) => directory !== '');
  const lock = await lockedPackages();
  const read = new Map<string, Part>();
  for (const directory of directories) read.set(directory, await partIn(directory, lock[directory]?.integrity));
  const refsOf = (directory: string): readonly string[] =>
    [...(needed.get(directory) ?? [])].flatMap((each) => read.get(each)?.purl ?? []).toSorted();
  const parts = directories.flatMap((directory) => {
    const part = read.get(directory);
    return part === undefined ? [] : [{ ...part, needs: refsOf(directory) }];
  });
  return { parts: inOrder(merged(parts)), direct: refsOf('') };
}

/** The imports between packages. Our own sources are the package without a directory. */
function needsOf(inputs: Metafile['inputs']): ReadonlyMap<string, ReadonlySet<string>> {
  const needed = new Map<string, Set<string>>([['', new Set()]]);
  for (const [source, { imports }] of Object.entries(inputs)) {
    const from = packageOf(source) ?? '';
    const others = needed.get(from) ?? new Set<string>();
    const imported = imports.flatMap(({ path }) => packageOf(path) ?? []).filter((to) => to !== from);
    needed.set(from, new Set([...others, ...imported]));
  }
  return needed;
}

/** Merges directories with the same version of a package. */
function merged(parts: readonly Part[]): readonly Part[] {
  const byPurl = Map.groupBy(parts, ({ purl }) => purl);
  return [...byPurl.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const needs = new Set([first, ...others].flatMap((part) => part.needs));
    return [{ ...first, needs: [...needs].toSorted() }];
  });
}

interface Description {
  readonly name: string;
  readonly version: string;
  readonly license?: string | { readonly type: string };
}

async function partIn(directory: string, integrity: string | undefined): Promise<Part> {
  const described = JSON.parse(await readFile(join(root, directory, 'package.json'), 'utf8')) as Description;
  const { name, version, license = '' } = described;
  const licence = typeof license === 'string' ? license : license.type;
  return {
    purl: purlOf('npm', name, version),
    type: 'library',
    name,
    version,
    licence,
    texts: await textsIn(directory),
    hashes: hashesOf(integrity),
    needs: [],
  };
}

const isLegal = (file: string): boolean => /^(licen[cs]e|copying|notice|copyright)([.-].*)?$/i.test(file);

async function textsIn(directory: string): Promise<readonly Text[]> {
  const files = (await readdir(join(root, directory))).filter(isLegal).toSorted();
  return await Promise.all(
    files.map(async (title) => ({ title, text: await readFile(join(root, directory, title), 'utf8') })),
  );
}

/** The digest of a package's archive in the lock file, which npm verifies. */
function hashesOf(integrity = ''): readonly Hash[] {
  const [, sum] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  return sum === undefined ? [] : [{ alg: 'SHA-512', content: Buffer.from(sum, 'base64').toString('hex') }];
}

type Locked = Readonly<Record<string, { readonly integrity?: string }>>;

async function lockedPackages(): Promise<Locked> {
  return (JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: Locked }).packages;
}
