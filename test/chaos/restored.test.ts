import { expect, it } from 'vitest';
import type { KeyChange } from './operation.ts';
import { restoreViolations } from './restored.ts';

const changes: readonly KeyChange[] = [
  { revision: 2, key: 'a', kind: 'put', value: '1' },
  { revision: 3, key: 'b', kind: 'put', value: '2' },
  { revision: 4, key: 'a', kind: 'delete', value: '' },
];

it('a restored cluster has the keys of its revision, in any order', () => {
  expect(
    restoreViolations(
      [
        { revision: 3, state: { b: '2', a: '1' } },
        { revision: 4, state: { b: '2' } },
      ],
      changes,
    ),
  ).toEqual([]);
});

it.each([
  ['a missing key', { a: '1' }],
  ['an old value', { a: '1', b: '0' }],
  ['a key that was never written', { a: '1', b: '2', c: '3' }],
])('%s in a restored cluster is a violation', (_title, state) => {
  expect(restoreViolations([{ revision: 3, state }], changes)).toEqual([expect.stringContaining('from revision 3')]);
});

it('a restored cluster may have writes after the revision of its backup, and none without those before', () => {
  expect(restoreViolations([{ revision: 2, state: { a: '1', b: '2' } }], changes)).toEqual([]);
  expect(restoreViolations([{ revision: 3, state: { a: '1' } }], changes)).toHaveLength(1);
  expect(restoreViolations([{ revision: 4, state: { a: '1', b: '2' } }], changes)).toHaveLength(1);
});
