import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants/all.ts';
import { located, planted } from './mutants/mutant.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('the planted bugs', () => {
  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('%s still applies', (_, mutant) => {
    const inItsFile = located(mutant, root);
    const text = read(inItsFile.file);
    expect(planted(text, inItsFile)).not.toBe(text);
  });

  it('have names of their own', () => {
    const names = mutants.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
    expect(names.length).toBeGreaterThanOrEqual(45);
  });

  it('include every rule', () => {
    const planners = ['src/core/cluster/plan/plan-cluster.ts', 'src/core/cluster/plan/upkeep/plan-upkeep.ts'];
    const rules = planners.flatMap((file) => [...read(file).matchAll(/^ {2}(\w+),$/gm)].map(([, rule = '']) => rule));
    expect(rules.length).toBeGreaterThan(40);
    const kebab = (rule: string): string => rule.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const names = new Set(mutants.map(({ name }) => name));
    expect(rules.filter((rule) => !names.has(`without-${kebab(rule)}`))).toEqual([]);
  });

  it('follow their fragment into another file of their folder', () => {
    const mutant = { name: 'a', plants: 'b', file: 'src/core', replace: 'Math.floor(voters / 2) + 1', by: '' };
    expect(located(mutant, root).file).toBe('src/core/quorum.ts');
    expect(() => located({ ...mutant, replace: 'import type {' }, root)).toThrow(/its fragment is in \d+ files/);
    expect(() => located({ ...mutant, replace: 'a fragment of no source' }, root)).toThrow('is in 0 files');
  });

  it('do not apply if their fragment is missing or occurs twice', () => {
    const mutant = { name: 'a', file: 'a.ts', replace: 'if (a(b)) return;', by: '' };
    expect(planted('  if (a(b))\n    return;\n', mutant)).toBe('  \n');
    expect(() => planted('if (a(c)) return;', mutant)).toThrow('occurs 0 times');
    expect(() => planted('if (a(b)) return; if (a(b)) return;', mutant)).toThrow('occurs 2 times');
  });
});
