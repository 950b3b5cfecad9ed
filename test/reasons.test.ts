import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reasons } from '../src/core/reasons.ts';

it('docs/reference/reasons.md documents exactly the reasons of the code, with the same texts', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/reference/reasons.md'), 'utf8');
  const documented = [...page.matchAll(/^### `(\w+)`\n\n(.*)$/gm)].map(([, name, text]) => [name, text]);
  expect(Object.fromEntries(documented)).toEqual(reasons);
});
