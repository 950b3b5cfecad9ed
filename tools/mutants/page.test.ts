import { expect, it } from 'vitest';
import { pageOf, rowOf } from './page.ts';

const mutant = (name: string) => ({ name, plants: `the bug ${name}`, file: 'src/a.ts', replace: 'a', by: 'b' });
const ended = { problem: undefined, cpuSeconds: 1 };
const unit = { file: 'src/a.test.ts', title: 'a | b' };

it('the page has the result of each bug, of this run or of an earlier one', () => {
  const first = pageOf(
    [mutant('one'), mutant('two')],
    [rowOf({ ...ended, mutant: mutant('one'), killer: unit }, 'day 1')],
    '',
  );
  expect(first).toContain('| one | the bug one | a \\| b (src/a.test.ts) | unit | day 1 |');
  expect(first).toContain('| two | the bug two | not run yet | none |');
  const simulated = { file: 'test/simulation/b.test.ts', title: 'b' };
  const second = pageOf(
    [mutant('one'), mutant('two')],
    [rowOf({ ...ended, mutant: mutant('two'), killer: simulated }, 'day 2')],
    first,
  );
  expect(second).toContain('| one | the bug one | a \\| b (src/a.test.ts) | unit | day 1 |');
  expect(second).toContain('| two | the bug two | b (test/simulation/b.test.ts) | simulation | day 2 |');
  expect(second).toContain('| 2 | 1 | 1 | 0 | 0 |');
});

it('a bug survives if no test fails, or if the test fails without the bug too', () => {
  const page = (row: Parameters<typeof rowOf>[0]) => pageOf([row.mutant], [rowOf(row, 'now')], '');
  expect(page({ ...ended, mutant: mutant('one'), killer: undefined })).toContain('| no test | none |');
  expect(page({ ...ended, mutant: mutant('one'), killer: unit, problem: 'fails too' })).toContain(
    '| fails too | none |',
  );
  const told = { ...mutant('one'), onlyInStory: 'needs a real node' };
  expect(page({ ...ended, mutant: told, killer: undefined })).toContain('| needs a real node | story |');
});
