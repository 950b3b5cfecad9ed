import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { foreignKubectl, goModules, ownPrograms } from '../tools/programs/catalog.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

describe('the repository', () => {
  it('builds programs from directories with only go.mod and go.sum, except those with a main.go of our own', () => {
    for (const { name } of goModules)
      expect(readdirSync(join(root, 'tools/programs', name)).toSorted()).toEqual(
        ownPrograms.includes(name) ? ['go.mod', 'go.sum', 'main.go'] : ['go.mod', 'go.sum'],
      );
    const directories = readdirSync(join(root, 'tools/programs'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(directories.map(({ name }) => name).toSorted()).toEqual(goModules.map(({ name }) => name).toSorted());
  });

  it('builds the version in each go.mod', () => {
    for (const { name, version, packages } of goModules) {
      if (ownPrograms.includes(name)) continue; // the program is in this repository
      const [first = ''] = Object.values(packages);
      const required = read(`tools/programs/${name}/go.mod`)
        .split('\n')
        .find((line) => line.includes('v') && first.startsWith(line.trim().split(' ')[0] || '-'));
      expect(required, name).toBeDefined();
      if (name !== 'etcd-3.4.31') expect(required).toContain(` v${version}`);
      else expect(required).toContain('the commit tagged v3.4.31');
    }
  });

  it('builds programs of our own with the module of their version', () => {
    const requiredBy = (name: string): string => read(`tools/programs/${name}/go.mod`);
    const versionOf = (name: string): string => goModules.find((module) => module.name === name)?.version ?? '';
    expect(requiredBy(foreignKubectl)).toContain(`k8s.io/kubectl v0${versionOf(foreignKubectl).slice(1)}`);
    expect(requiredBy('porcupine')).toContain(`github.com/anishathalye/porcupine v${versionOf('porcupine')}`);
  });

  it('describes every make target in one line, and its pages name no missing target', () => {
    const makefile = read('Makefile');
    const described = new Set([...makefile.matchAll(/^([a-z0-9-]+):.*## \S/gm)].map(([, target]) => target));
    const pages = tracked.filter((file) => file.endsWith('.md'));
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`(?:sudo )?make ([a-z0-9-]+)/g)].map(([, target]) => target),
    );
    expect(named.filter((target) => !described.has(target))).toEqual([]);
    for (const target of ['test', 'check', 'fmt', 'cluster', 'cluster-down', 'e2e', 'image'])
      expect(described).toContain(target);
  });

  it('has no page with a link to a missing file', () => {
    const broken = tracked
      .filter((file) => file.endsWith('.md'))
      .flatMap((page) =>
        [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => join(page, '..', target)),
      )
      .filter((target) => !existsSync(join(root, target)));
    expect(broken).toEqual([]);
  });

  it('numbers its design records without a gap', () => {
    const numbers = globSync('docs/design/*.md', { cwd: root })
      .toSorted()
      .map((file) => Number(/(\d{4})-/.exec(file)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('describes the same image in the Dockerfile and in tools/images', () => {
    const [dockerfile, recipe] = [read('Dockerfile'), read('tools/images/operator-image.ts')];
    const user = /^USER (\d+):\1$/m.exec(dockerfile)?.[1];
    expect(recipe).toContain(`const user = '${user}'`);
    expect(dockerfile).toContain(`ENTRYPOINT ["${/Entrypoint: \['(.*)'\]/.exec(recipe)?.[1]}"]`);
    const environment = [...(/Env: \[(.*)\]/.exec(recipe)?.[1] ?? '').matchAll(/'([^']*)'/g)].map(([, entry]) => entry);
    expect(dockerfile).toContain(`ENV ${environment.join(' ')}\n`);
  });
});
