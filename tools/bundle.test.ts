import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recipe } from './bundle.ts';
import { architecture, loaderPath } from './debian/packages.ts';
import { debianPackages, libraries } from './images/debian-parts.ts';
import { documentsFor } from './images/documents.ts';
import { nodeDigests, nodeVersion } from './images/node-program.ts';
import { packageOf } from './images/npm-parts.ts';

const sha256 = /^[0-9a-f]{64}$/;
const spdx = z.enum(['MIT', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', '0BSD', 'Unlicense', 'BlueOak-1.0.0']);
const licenses = z
  .array(
    z.union([
      z.strictObject({ license: z.strictObject({ id: spdx }) }),
      z.strictObject({ expression: z.string().regex(/ (AND|OR|WITH) /) }),
    ]),
  )
  .length(1);
const hash = z.union([
  z.strictObject({ alg: z.literal('SHA-256'), content: z.string().regex(sha256) }),
  z.strictObject({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }),
]);
const component = z.strictObject({
  type: z.enum(['application', 'library', 'platform', 'file', 'data']),
  'bom-ref': z.string().min(1),
  name: z.string().min(1),
  version: z.string().min(1).optional(),
  hashes: z.array(hash).min(1).optional(),
  licenses: licenses.optional(),
  cpe: z
    .string()
    .regex(/^cpe:2[.]3:a(:[^:]+){10}$/)
    .optional(),
  purl: z
    .string()
    .regex(/^pkg:(npm|deb|generic)\/[^\s@]+(@[^\s@+]+)?$/)
    .optional(),
  get components() {
    return z.array(component).min(1).optional();
  },
});
/** The part of CycloneDX 1.6 that the SBOM uses; unknown fields are rejected. */
const bom = z.strictObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/),
  version: z.literal(1),
  metadata: z.strictObject({
    lifecycles: z.tuple([z.strictObject({ phase: z.literal('build') })]),
    component: component.required({ version: true, licenses: true }),
  }),
  components: z.array(component),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
type Component = z.infer<typeof component>;

const titleOf = ({ name, version }: { readonly name: string; readonly version?: string | undefined }): string =>
  version === undefined ? name : `${name} ${version}`;

const titleIn = (directory: string): string =>
  titleOf(JSON.parse(readFileSync(join(import.meta.dirname, '..', directory, 'package.json'), 'utf8')));

/** The Debian packages of the image. */
function fillDebianRoot(root: string): void {
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  for (const name of Object.keys(debianPackages)) {
    write(`usr/share/doc/${name}/copyright`, `copyright of ${name}`);
    write(`usr/share/doc/${name}/changelog.Debian.gz`, gzipSync('source (1.2-3+deb12u4) bookworm; urgency=low\n'));
  }
  for (const library of libraries) write(`usr/lib/${architecture}/${library}`, library);
  write(loaderPath.resolved, 'loader');
}

/** Built once for all tests of this file, because it takes seconds. */
let metafile: Metafile;
beforeAll(async () => {
  ({ metafile } = await build({ ...(await recipe()), write: false, metafile: true }));
}, 120_000);

/** A file of the bundle and its static imports. */
function readAtStart(file: string, outputs: Metafile['outputs']): readonly string[] {
  const imported = outputs[file]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return [file, ...imported.flatMap(({ path }) => (path in outputs ? readAtStart(path, outputs) : []))];
}

it('the operator loads a small part of the bundle at its start, without the kubeconfig code', () => {
  const { outputs } = metafile;
  const operator =
    Object.keys(outputs).find((file) => 'src/operator/operator.ts' in (outputs[file]?.inputs ?? {})) ?? '';
  const files = [...new Set(readAtStart(operator, outputs))].flatMap((file) => outputs[file] ?? []);
  const sources = files.flatMap(({ inputs }) => Object.keys(inputs));
  expect(sources).toContain('src/operator/operator.ts');
  expect(
    sources.filter((source) => /@kubernetes\/client-node|(?:src\/(?:agent|objectstore)|lab)\//.test(source)),
  ).toEqual([]);
  expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(3_000_000);
});

/** The packages in the lock file, by directory. */
const locked = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  }
).packages;

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The directory in which Node finds the package `name` for a package in `directory`. */
function foundFrom(directory: string, name: string): string | undefined {
  const own = [directory, 'node_modules', name].filter(Boolean).join('/');
  if (own in locked || directory === '') return own in locked ? own : undefined;
  return foundFrom(directory.slice(0, Math.max(directory.lastIndexOf('/node_modules/'), 0)), name);
}

/** The packages that the operator declares, and their dependencies. The lab's are not among them. */
function packagesOfOperator(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (directory: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = locked[directory] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = foundFrom(directory, name);
      if (next === undefined || found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit('');
  return found;
}

it('the bundle has no source and no package of the lab', () => {
  const sources = Object.keys(metafile.inputs);
  const own = sources.filter((source) => packageOf(source) === undefined);
  expect(own.filter((source) => !source.startsWith('src/'))).toEqual([]);
  const allowed = packagesOfOperator();
  expect(allowed).toContain('node_modules/zod');
  expect(allowed).not.toContain('node_modules/dns-packet');
  const bundled = [...new Set(sources.flatMap((source) => packageOf(source) ?? []))];
  expect(bundled.filter((directory) => !allowed.has(directory))).toEqual([]);
});

describe('the documents of the image', { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'debian-'));
  let documents: Readonly<Record<string, string>>;
  let sbom: z.infer<typeof bom>;
  let notices = '';

  beforeAll(async () => {
    fillDebianRoot(root);
    documents = await documentsFor(metafile, root);
    sbom = bom.parse(JSON.parse(documents['sbom.cdx.json'] ?? ''));
    notices = documents['THIRD-PARTY-NOTICES.txt'] ?? '';
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const part = (name: string): Component | undefined => sbom.components.find((each) => each.name === name);

  it('list every bundled package with version, licence and digest', () => {
    const directories = [...new Set(Object.keys(metafile.inputs).flatMap((source) => packageOf(source) ?? []))];
    expect(directories.length).toBeGreaterThan(100);
    const listed = sbom.components.filter(({ purl }) => purl?.startsWith('pkg:npm/'));
    expect(listed.map(titleOf).toSorted()).toEqual([...new Set(directories.map(titleIn))].toSorted());
    for (const each of listed) {
      expect(each.licenses, each.name).toHaveLength(1);
      expect(each.hashes?.[0]?.alg, each.name).toBe('SHA-512');
    }
  });

  it('list Node with its digest and its libraries', () => {
    const node = part('node');
    expect(node).toMatchObject({ version: nodeVersion, type: 'platform', licenses: [{ license: { id: 'MIT' } }] });
    expect(Object.values(nodeDigests)).toContain(node?.hashes?.[0]?.content);
    const within = node?.components?.map(({ name }) => name);
    expect(within).toEqual(expect.arrayContaining(['openssl', 'v8', 'libuv', 'zlib', 'c-ares', 'nghttp2', 'sqlite']));
  });

  it('list libc and the other Debian libraries, and each of their files with its digest', () => {
    expect(part('libc6')).toMatchObject({
      version: '1.2-3+deb12u4',
      purl: expect.stringContaining('%2Bdeb12u4?arch='),
    });
    const files = Object.keys(debianPackages).flatMap((name) => part(name)?.components ?? []);
    const expected = [...libraries.map((library) => `/usr/lib/${architecture}/${library}`), loaderPath.asked];
    expect(files.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
    const libc = files.find(({ name }) => name.endsWith('/libc.so.6'));
    const content = createHash('sha256').update('libc.so.6').digest('hex');
    expect(libc?.hashes).toEqual([{ alg: 'SHA-256', content }]);
  });

  it('list nothing of the lab', () => {
    const data = sbom.components.filter(({ type }) => type === 'data');
    expect(data.map(({ name }) => name)).toEqual(['etcd-api-definitions']);
    expect(notices).not.toContain('kubernetes-api-definitions');
    for (const name of ['dns-packet', 'rfc6902', '@marcbachmann/cel-js']) expect(part(name)).toBeUndefined();
  });

  it('list dependencies by unique references', () => {
    const refs = sbom.components.map((each) => each['bom-ref']);
    const operator = sbom.metadata.component['bom-ref'];
    expect(new Set(refs).size).toBe(refs.length);
    expect(sbom.dependencies.map(({ ref }) => ref)).toEqual([operator, ...refs]);
    expect(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
    expect(sbom.dependencies[0]?.dependsOn.some((ref) => ref.startsWith('pkg:npm/zod@'))).toBe(true);
  });

  it('have a licence for every part: its text, or its name if the package has no text', () => {
    for (const title of sbom.components.map(titleOf)) {
      const named = notices.split('\n').find((line) => line.startsWith(`${title}: `));
      expect(named, title).toMatch(/: [A-Z(0][-A-Za-z0-9. ()]+$/);
      expect(named, title).not.toContain('no licence given');
    }
    const section = (title: string): string => notices.slice(notices.indexOf(title), notices.indexOf(title) + 200_000);
    expect(section(`node ${nodeVersion} (LICENSE)`)).toContain('Copyright Node.js contributors');
    expect(section('libc6 1.2-3+deb12u4 (copyright)')).toContain('copyright of libc6');
    expect(section('libc6 1.2-3+deb12u4 (/usr/share/common-licenses/LGPL-2.1)')).toContain(
      'GNU LESSER GENERAL PUBLIC LICENSE',
    );
    expect(section(`zod ${part('zod')?.version} (LICENSE)`)).toContain('MIT License');
  });

  it('are reproducible, and contain no local paths', async () => {
    expect(await documentsFor(metafile, root)).toEqual(documents);
    const backwards = Object.fromEntries(Object.entries(metafile.inputs).toReversed());
    expect(await documentsFor({ ...metafile, inputs: backwards }, root)).toEqual(documents);
    for (const content of Object.values(documents)) {
      expect(content).not.toContain(join(import.meta.dirname, '..'));
      expect(content).not.toContain(root);
    }
  });
});
