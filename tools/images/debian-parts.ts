import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { architecture, loaderPath } from '../debian/packages.ts';
import { sha256Of } from './node-program.ts';
import { inOrder, type Part, purlOf, type Text } from './parts.ts';

interface DebianPackage {
  readonly licence: string;
  /** Licences that the copyright file names without their text. */
  readonly licences: readonly string[];
  readonly libraries: readonly string[];
}

/** The shared libraries of `node`, all from Debian. The image has no shell and no tools. */
export const debianPackages: Readonly<Record<string, DebianPackage>> = {
  libc6: {
    licence: 'LGPL-2.1-or-later AND GPL-2.0-or-later',
    licences: ['LGPL-2.1', 'GPL-2'],
    libraries: ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1'],
  },
  'libgcc-s1': {
    licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    licences: ['GPL-3'],
    libraries: ['libgcc_s.so.1'],
  },
  'libstdc++6': {
    licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    licences: ['GPL-3'],
    libraries: ['libstdc++.so.6'],
  },
};

/** All shared libraries of the image, without the loader. */
export const libraries: readonly string[] = Object.values(debianPackages).flatMap((each) => each.libraries);

/** The Debian packages with files in the image; each file has a digest. */
export const debianParts = async (root: string): Promise<readonly Part[]> =>
  inOrder(await Promise.all(Object.entries(debianPackages).map(([name, found]) => partOf(name, found, root))));

async function partOf(
  name: string,
  { licence, licences, libraries: files }: DebianPackage,
  root: string,
): Promise<Part> {
  const documents = join(root, 'usr/share/doc', name);
  const { version, release } = readChangelog(await readFile(join(documents, 'changelog.Debian.gz')));
  const names = name === 'libc6' ? [...files, loaderPath.resolved] : files;
  return {
    purl: `${purlOf('deb/debian', name, version)}?arch=${debianArchitecture}&distro=${release}`,
    type: 'library',
    name,
    version,
    licence,
    texts: [
      { title: 'copyright', text: await readFile(join(documents, 'copyright'), 'utf8') },
      ...(await Promise.all(licences.map(licenceText))),
    ],
    within: await Promise.all(names.map((file) => filePart(file, root))),
    needs: [],
  };
}

const debianArchitecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** The first line: `glibc (2.36-9+deb12u14) bookworm; urgency=medium`. */
export function readChangelog(zipped: Uint8Array): { readonly version: string; readonly release: string } {
  const [first = ''] = gunzipSync(zipped).toString('utf8').split('\n');
  const [, version, release] = /^\S+ \(([^)]+)\) ([a-z]+)/.exec(first) ?? [];
  if (version === undefined || release === undefined) throw new Error(`no version in the changelog: ${first}`);
  return { version, release };
}

async function filePart(file: string, root: string): Promise<Part> {
  const path = [file, ...['lib', 'usr/lib'].map((directory) => `/${directory}/${architecture}/${file}`)].find((each) =>
    existsSync(join(root, each)),
  );
  if (path === undefined) throw new Error(`${file} is not among the unpacked Debian packages`);
  const content = await sha256Of(join(root, path));
  const name = path === loaderPath.resolved ? loaderPath.asked : path;
  return { purl: `file:${name}`, type: 'file', name, texts: [], hashes: [{ alg: 'SHA-256', content }], needs: [] };
}

async function licenceText(name: string): Promise<Text> {
  const text = await readFile(join(import.meta.dirname, 'licences', `${name}.txt`), 'utf8');
  return { title: `/usr/share/common-licenses/${name}`, text };
}
