import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reasons } from '../src/core/reasons.ts';

it('documents every reason in its own words, and no reason that is gone', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/reference/reasons.md'), 'utf8');
  const documented = [...page.matchAll(/^### `(\w+)`\n\n(.*)$/gm)].map(([, name, says]) => [name, says]);
  expect(Object.fromEntries(documented)).toEqual(reasons);
});
