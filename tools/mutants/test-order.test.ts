import { expect, it } from 'vitest';
import { distancesTo, importsIn, portionsFor, unitTests } from './test-order.ts';

const imports = new Map([
  ['src/a/rule.test.ts', ['src/a/rule.ts']],
  ['src/a/plan.test.ts', ['src/a/plan.ts']],
  ['test/whole.test.ts', ['src/a/plan.ts', 'src/b.ts']],
  ['src/b.test.ts', ['src/b.ts']],
  ['src/a/plan.ts', ['src/a/rule.ts']],
  ['src/b.ts', []],
]);

it('finds imports of values, also dynamic and repeated ones, and none of types', () => {
  const text =
    "import type { A } from './a.ts';\nexport * from '../b.ts';\nawait import('./c.ts');\nimport 'node:fs';\n";
  expect(importsIn('src/x/y.ts', text)).toEqual(['src/b.ts', 'src/x/c.ts']);
});

it('counts the imports between a source and the files that reach it', () => {
  expect(Object.fromEntries(distancesTo('src/a/rule.ts', imports))).toEqual({
    'src/a/rule.ts': 0,
    'src/a/rule.test.ts': 1,
    'src/a/plan.ts': 1,
    'src/a/plan.test.ts': 2,
    'test/whole.test.ts': 2,
  });
});

it('runs the test beside the source first, and no test that does not reach the source', () => {
  const tests = ['src/b.test.ts', 'test/whole.test.ts', 'src/a/plan.test.ts', 'src/a/rule.test.ts'];
  expect(portionsFor('src/a/rule.ts', tests, imports)).toEqual([
    ['src/a/rule.test.ts'],
    ['src/a/plan.test.ts', 'test/whole.test.ts'],
  ]);
});

it('runs unit tests and simulation, without the test that fails with every bug', () => {
  const tests = unitTests('.');
  expect(tests).toContain('src/core/quorum.test.ts');
  expect(tests.filter((file) => file.startsWith('test/simulation/')).length).toBeGreaterThan(10);
  expect(tests).not.toContain('test/mutants.test.ts');
});
