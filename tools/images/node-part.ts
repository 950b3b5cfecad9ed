import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../lib/run.ts';
import { nodePackage, nodeProgram, sha256Of } from './node-program.ts';
import { inOrder, type Part, purlOf } from './parts.ts';

/** Entries of `process.versions` that are not libraries. */
const noLibraries: ReadonlySet<string> = new Set(['node', 'modules', 'napi']);

/** Libraries with another name in vulnerability databases. */
const knownAs: Readonly<Record<string, string>> = { ares: 'c-ares', uv: 'libuv', tz: 'tzdata' };

const vendors: Readonly<Record<string, string>> = { openssl: 'openssl', sqlite: 'sqlite', libuv: 'libuv' };

/** Node and the libraries linked into it, by `process.versions`. */
export async function nodePart(needs: readonly string[]): Promise<Part> {
  const asked = await run(nodeProgram, ['-p', 'JSON.stringify(process.versions)']);
  const versions = JSON.parse(asked) as Readonly<Record<string, string>>;
  const { node: version = '' } = versions;
  return {
    purl: purlOf('generic', 'node', version),
    type: 'platform',
    name: 'node',
    version,
    licence: 'MIT',
    texts: [{ title: 'LICENSE', text: await readFile(join(nodePackage, 'LICENSE'), 'utf8') }],
    hashes: [{ alg: 'SHA-256', content: await sha256Of(nodeProgram) }],
    cpe: cpeOf('nodejs', 'node.js', version),
    within: inOrder(librariesIn(versions)),
    needs,
  };
}

const librariesIn = (versions: Readonly<Record<string, string>>): readonly Part[] =>
  Object.entries(versions)
    .filter(([name, version]) => !noLibraries.has(name) && version !== '')
    .map(([key, version]) => {
      const name = knownAs[key] ?? key;
      const vendor = vendors[name];
      return {
        purl: purlOf('generic', name, version),
        type: 'library',
        name,
        version,
        texts: [],
        needs: [],
        ...(vendor === undefined ? {} : { cpe: cpeOf(vendor, name, version) }),
      };
    });

const cpeOf = (vendor: string, product: string, version: string): string =>
  `cpe:2.3:a:${vendor}:${product}:${version}:*:*:*:*:*:*:*`;
