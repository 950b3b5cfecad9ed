import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it.each([['plan-cluster.ts']])('every entry of an array of rules in %s has a remark', (file) => {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8');
  const arrays = [...source.matchAll(/readonly \w*Rule(?:<\w+>)?\[\] = \[\n(.*?)\n\];/gs)].map(([, body = '']) => body);
  const lines = arrays.flatMap((body) => body.split('\n').map((line) => line.trim()));
  const bare = lines.filter((line, index) => /^\w+,$/.test(line) && !lines[index - 1]?.startsWith('// '));
  expect(lines.filter((line) => /^\w+,$/.test(line)).length).toBeGreaterThan(4);
  expect(bare).toEqual([]);
});
