import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The architecture, executable: each folder of src/, and the folders it may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  std: [],
  core: ['std'],
  kube: ['std'],
  etcd: ['std'],
  storage: ['std'],
  runtime: ['std', 'kube'],
  dialects: ['std', 'core'],
  controllers: ['std', 'core', 'dialects', 'runtime', 'kube', 'etcd', 'storage'],
  agents: ['std', 'core', 'etcd', 'storage'],
  lab: ['std', 'kube', 'runtime'],
  cli: ['std', 'core', 'dialects', 'kube', 'etcd', 'lab'],
  main: ['std', 'core', 'dialects', 'kube', 'runtime', 'etcd', 'storage', 'controllers', 'agents', 'lab', 'cli'],
};

/** What a core that is pure has no use for: waiting, and the world's clock, dice and settings. */
const impure =
  /\b(?:async|await|Promise|setTimeout|setInterval|Date\.now|new Date\(\)|Math\.random|process\.)|\bfrom 'node:/;

const root = join(import.meta.dirname, '..');
const filesIn = (pattern: string): readonly string[] => globSync(pattern, { cwd: root });
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.endsWith('.contract.ts');

/** The imports of `file` that point from its folder of src/ to one it may not use. */
function wrongImports(file: string, source: string): readonly string[] {
  const layerOf = (path: string): string => path.split(sep)[1] ?? '';
  const allowed = mayImport[layerOf(file)] ?? [];
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)]
    .map(([, target = '']) => relative('.', join(dirname(file), target)))
    .filter(
      (target) =>
        target.split(sep)[0] !== 'src' || (layerOf(target) !== layerOf(file) && !allowed.includes(layerOf(target))),
    )
    .map((target) => `${file} imports ${target}`);
}

describe('the architecture', () => {
  it('has no folders in src/ but those on the map', () => {
    const folders = new Set(filesIn('src/*/**/*.ts').map((file) => file.split(sep)[1] ?? ''));
    expect([...folders].filter((folder) => !(folder in mayImport))).toEqual([]);
    expect(filesIn('src/*.ts')).toEqual([]);
  });

  it('lets imports only ever point inward', () => {
    const wrong = filesIn('src/**/*.ts')
      .filter((file) => !isTest(file))
      .flatMap((file) => wrongImports(file, read(file)));
    expect(wrong).toEqual([]);
  });

  it('sees an import that points outward', () => {
    expect(wrongImports('src/core/plan/x.ts', "import { a } from '../../kube/client.ts';")).toHaveLength(1);
    expect(wrongImports('src/core/plan/x.ts', "const a = await import('../../kube/client.ts');")).toHaveLength(1);
    expect(wrongImports('src/kube/x.ts', "export * from '../../tools/lib/run.ts';")).toHaveLength(1);
    expect(
      wrongImports('src/core/plan/x.ts', "import { a } from '../../std/failure.ts';\nimport b from './y.ts';"),
    ).toEqual([]);
  });

  it('has a core that never waits', () => {
    const waiting = filesIn('src/core/**/*.ts').filter((file) => !isTest(file) && impure.test(read(file)));
    expect(waiting).toEqual([]);
    for (const line of ['await x', 'new Promise(f)', 'Date.now()', 'new Date()', "import fs from 'node:fs'"])
      expect(line).toMatch(impure);
    expect('const now = world.now; // promised').not.toMatch(impure);
  });

  it('has a core that knows no dialect', () => {
    expect(filesIn('src/core/**/*.ts').filter((file) => /coreos|improbable/i.test(read(file)))).toEqual([]);
  });

  it('switches no lint rule off inside the core', () => {
    expect(
      filesIn('src/core/**/*.ts').filter((file) =>
        /(?:oxlint|eslint|biome|ts)-(?:disable|ignore|expect)/.test(read(file)),
      ),
    ).toEqual([]);
  });
});
