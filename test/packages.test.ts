import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly workspaces?: readonly string[];
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly optionalDependencies?: Versions;
}

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
}

const manifest = (file: string): Manifest => JSON.parse(read(file)) as Manifest;
const operator = manifest('package.json');
const lab = manifest('lab/package.json');

const isTest = (file: string): boolean => /\.(?:test|contract|e2e)\.ts$/.test(file);

/** The sources of a folder, or its tests. */
const sourcesIn = (pattern: string, tests: boolean): readonly string[] =>
  globSync(pattern, { cwd: root }).filter((file) => isTest(file) === tests);

/** The npm packages that a source imports. */
function packagesIn(source: string): readonly string[] {
  const statements = [
    ...source.matchAll(/^(?:import|export)\b[^;'=]*? from '([^']+)';$/gm),
    ...source.matchAll(/^import '([^']+)';$/gm),
    ...source.matchAll(/\bimport\('([@\w./-]+)'\)/g),
  ];
  return statements
    .map(([, path = '']) => path)
    .filter((path) => !/^[.]|^node:/.test(path) && !builtinModules.includes(path))
    .map((path) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
}

const importedBy = (files: readonly string[]): readonly string[] =>
  [...new Set(files.flatMap((file) => packagesIn(read(file))))].toSorted();

/** The packages that are not declared. */
const missing = (imported: readonly string[], ...declared: readonly Versions[]): readonly string[] =>
  imported.filter((name) => !declared.some((versions) => name in versions));

describe('the npm packages', () => {
  it('are pinned to one exact version, which is the same in every package.json', () => {
    const all = [operator, lab].flatMap(({ dependencies, devDependencies, optionalDependencies = {} }) =>
      [dependencies, devDependencies, optionalDependencies].flatMap((versions) => Object.entries(versions)),
    );
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    const different = all.filter(([name, version]) => all.some(([other, its]) => other === name && its !== version));
    expect(different).toEqual([]);
  });

  it('are locked without download addresses: only the workspace has a path', () => {
    const lock = read('package-lock.json');
    expect(lock).not.toMatch(/https?:\/\/[^"]*\.tgz/);
    const { packages } = JSON.parse(lock) as { readonly packages: Readonly<Record<string, LockedPackage>> };
    const resolved = Object.values(packages).flatMap((locked) => ('resolved' in locked ? [locked] : []));
    expect(resolved).toEqual(operator.workspaces?.map((folder) => ({ resolved: folder, link: true })));
  });

  it('of the operator are the imports of src', () => {
    expect(importedBy(sourcesIn('src/**/*.ts', false))).toEqual(Object.keys(operator.dependencies).toSorted());
  });

  it('of the lab are the imports of lab', () => {
    expect(importedBy(sourcesIn('lab/**/*.ts', false))).toEqual(Object.keys(lab.dependencies).toSorted());
  });

  it('of tests and tools are declared too', () => {
    const { dependencies, devDependencies } = operator;
    const [tests, tools] = [
      sourcesIn('{src,test,bench}/**/*.ts', true),
      sourcesIn('{test,tools,bench}/**/*.ts', false),
    ];
    expect(missing(importedBy([...tests, ...tools]), dependencies, devDependencies)).toEqual([]);
    expect(missing(importedBy(sourcesIn('lab/**/*.ts', true)), lab.dependencies, devDependencies)).toEqual([]);
  });

  it('are installed again after a change of any package.json', () => {
    const prerequisites = ['package.json', ...(operator.workspaces ?? []).map((folder) => `${folder}/package.json`)];
    const makefile = read('Makefile');
    for (const marker of ['INSTALLED', 'ONLY_TO_RUN'])
      expect(makefile).toContain(`\n$(${marker}): ${prerequisites.join(' ')} package-lock.json\n`);
  });

  it('are found in every form of import', () => {
    const lazy = '@d/lazy';
    const source = [
      "export const value = 'no package';",
      "import { type B,\n  c } from 'b/part';",
      "export * from '@c/d/e';",
      "import type { Own } from './own.ts';",
      "import { join } from 'node:path';",
      `const loaded = await import('${lazy}');`,
      "import 'a';",
    ];
    expect(packagesIn(source.join('\n'))).toEqual(['b', '@c/d', 'a', lazy]);
  });
});
