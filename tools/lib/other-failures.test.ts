import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { otherFailuresVariable } from './other-failures.ts';
import { attempt } from './run.ts';
import { tallyOf } from './suites.ts';

const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
const directory = mkdtempSync(join(tmpdir(), 'other-failures-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A run with one failed test and four failures outside of tests. */
const files = {
  'vitest.config.mjs':
    "export default { test: { globals: true, globalSetup: ['./setup.mjs'], include: ['*.test.mjs'] } };",
  'setup.mjs': "export const setup = () => () => { throw new Error('the lab left behind: process 7'); };",
  'unread.test.mjs': "throw new Error('not loaded');",
  'hook.test.mjs': [
    "it('one that fails', () => { throw new Error('not within 240 s'); });",
    "it('one that is left alone', () => void Promise.reject(new Error('an uncaught error')));",
    "describe('a part', () => { it('is well', () => {}); afterAll(() => { throw new Error('not put away'); }); });",
  ].join('\n'),
};

it('failures that are not tests are counted beside a failed test', async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const [report, others] = [join(directory, 'report.json'), join(directory, 'others.json')];
  const reporters = ['json', join(import.meta.dirname, 'other-failures.ts')].map((name) => `--reporter=${name}`);
  const { code } = await attempt(
    process.execPath,
    [vitest, 'run', '--root', directory, ...reporters, `--outputFile.json=${report}`],
    { env: { [otherFailuresVariable]: others } },
  );
  const found = JSON.parse(readFileSync(others, 'utf8')) as readonly string[];
  expect(found).toEqual([
    'hook.test.mjs: not put away',
    'unhandled: an uncaught error',
    'after the tests: the lab left behind: process 7',
  ]);
  expect(tallyOf(readFileSync(report, 'utf8'), code, found)).toMatchObject({ passed: 2, failed: 5 });
});
