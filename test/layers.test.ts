import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Each layer and the layers that it may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  std: [],
  core: ['std'],
  kube: ['std'],
  etcd: ['std'],
  objectstore: ['std'],
  runtime: ['std', 'kube'],
  apis: ['std', 'core'],
  controllers: ['std', 'core', 'apis', 'runtime', 'kube', 'etcd', 'objectstore'],
  agent: ['std', 'core', 'etcd', 'objectstore'],
  operator: ['std', 'core', 'apis', 'kube', 'runtime', 'etcd', 'objectstore', 'controllers', 'agent'],
  lab: ['std', 'kube', 'runtime'],
  'lab/cli': ['std', 'core', 'apis', 'kube', 'etcd', 'lab'],
};

/** The layer of a file. The lab is a workspace beside src/; its commands are a layer of their own. */
function layerOf(path: string): string {
  const [top = '', folder = ''] = path.split(sep);
  if (top === 'lab') return folder === 'cli' || folder === 'main.ts' ? 'lab/cli' : 'lab';
  return top === 'src' ? folder : top;
}

/** What pure code must not use: waiting, the clock, randomness, the environment and Node modules. */
const impure =
  /\b(?:async|await|Promise|setTimeout|setInterval|Date\.now|new Date\(\)|Math\.random|process\.)|\bfrom 'node:/;

const root = join(import.meta.dirname, '..');
const filesIn = (pattern: string): readonly string[] => globSync(pattern, { cwd: root });
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.endsWith('.contract.ts');

/** The imports of `file` that its layer does not allow. */
function wrongImports(file: string, source: string): readonly string[] {
  const allowed = mayImport[layerOf(file)] ?? [];
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)]
    .map(([, target = '']) => relative('.', join(dirname(file), target)))
    .filter((target) => layerOf(target) !== layerOf(file) && !allowed.includes(layerOf(target)))
    .map((target) => `${file} imports ${target}`);
}

describe('the architecture', () => {
  it('lists every folder of src/', () => {
    const folders = new Set(filesIn('src/*/**/*.ts').map((file) => file.split(sep)[1] ?? ''));
    expect([...folders].filter((folder) => !(folder in mayImport))).toEqual([]);
    expect(filesIn('src/*.ts')).toEqual([]);
  });

  it('has only imports that the layer map allows', () => {
    const wrong = filesIn('{src,lab}/**/*.ts')
      .filter((file) => !isTest(file) && !file.includes('node_modules'))
      .flatMap((file) => wrongImports(file, read(file)));
    expect(wrong).toEqual([]);
  });

  it('detects an import that the layer map does not allow', () => {
    expect(wrongImports('src/core/plan/x.ts', "import { a } from '../../kube/client.ts';")).toHaveLength(1);
    expect(wrongImports('src/core/plan/x.ts', "const a = await import('../../kube/client.ts');")).toHaveLength(1);
    expect(wrongImports('src/kube/x.ts', "export * from '../../tools/lib/run.ts';")).toHaveLength(1);
    expect(
      wrongImports('src/core/plan/x.ts', "import { a } from '../../std/failure.ts';\nimport b from './y.ts';"),
    ).toEqual([]);
  });

  it('keeps src/core pure: no waiting, clock, randomness or Node modules', () => {
    const waiting = filesIn('src/core/**/*.ts').filter((file) => !isTest(file) && impure.test(read(file)));
    expect(waiting).toEqual([]);
    for (const line of ['await x', 'new Promise(f)', 'Date.now()', 'new Date()', "import fs from 'node:fs'"])
      expect(line).toMatch(impure);
    expect('const now = world.now; // promised').not.toMatch(impure);
  });

  it('keeps src/core free of the names of both APIs', () => {
    expect(filesIn('src/core/**/*.ts').filter((file) => /coreos|improbable/i.test(read(file)))).toEqual([]);
  });

  it('disables no lint rule in src/core', () => {
    expect(
      filesIn('src/core/**/*.ts').filter((file) =>
        /(?:oxlint|eslint|biome|ts)-(?:disable|ignore|expect)/.test(read(file)),
      ),
    ).toEqual([]);
  });
});
