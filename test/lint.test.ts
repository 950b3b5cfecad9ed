import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempt } from '../tools/lib/run.ts';

const root = join(import.meta.dirname, '..');
const lines = (count: number, line: string): string =>
  Array.from({ length: count }, (_, i) => line.replaceAll('#', String(i))).join('\n');

/** Source files with one violation each, by the rule that must report it. */
const violations: Readonly<Record<string, string>> = {
  'max-lines': lines(251, 'export const a# = #;'),
  'max-lines-per-function': `export function long(): void {\n${lines(41, '  console.log(#);')}\n}\n`,
  complexity: `export const knot = (n: number): number => ${lines(9, 'n === # ? # :')} 9;\n`,
  'max-depth':
    'export function deep(n: number): void {\n  for (;;) {\n    if (n > 1) {\n      if (n > 2) return;\n    }\n  }\n}\n',
  'max-params': 'export const many = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n',
  'no-floating-promises': 'const work = async (): Promise<void> => {};\nexport function f(): void {\n  work();\n}\n',
  'switch-exhaustiveness-check':
    "export function g(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}\n",
  'no-explicit-any': 'export const loose = (x: any): unknown => x;\n',
};

describe('oxlint', () => {
  const place = mkdtempSync(join(tmpdir(), 'lint-'));
  let found: readonly { readonly code: string; readonly filename: string }[] = [];

  beforeAll(async () => {
    writeFileSync(
      join(place, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: { types: [] }, include: ['*.ts'] }),
    );
    for (const [rule, source] of Object.entries(violations)) writeFileSync(join(place, `${rule}.ts`), source);
    const { stdout } = await attempt('oxlint', ['-c', join(root, '.oxlintrc.json'), '--format=json', '.'], {
      cwd: place,
    });
    found = (JSON.parse(stdout) as { diagnostics: typeof found }).diagnostics;
  });
  afterAll(() => rmSync(place, { recursive: true }));

  for (const rule of Object.keys(violations)) {
    it(`reports a violation of ${rule}`, () => {
      const codes = found.filter(({ filename }) => filename.endsWith(`${rule}.ts`)).map(({ code }) => code);
      expect(
        codes.some((code) => code.includes(`(${rule})`)),
        codes.join(' '),
      ).toBe(true);
    });
  }
});
