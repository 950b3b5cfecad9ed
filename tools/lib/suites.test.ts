import { describe, expect, it } from 'vitest';
import { plainLine, runOne, sum, tallyOf } from './suites.ts';

describe('the tally of a suite', () => {
  const cases: Record<string, { report: string; code: number; want: string }> = {
    'counts what passed and what failed': {
      report: '{"numPassedTests":3,"numFailedTests":1}',
      code: 1,
      want: '3 passed, 1 failed',
    },
    'is a failure when nothing ran': {
      report: '{"numPassedTests":0,"numFailedTests":0}',
      code: 0,
      want: '0 passed, 1 failed',
    },
    'is a failure when there is no report': { report: '{}', code: 0, want: '0 passed, 1 failed' },
    'is a failure when all tests passed and the run did not': {
      report: '{"numPassedTests":3,"numFailedTests":0}',
      code: 1,
      want: '3 passed, 1 failed',
    },
  };
  for (const [sentence, { report, code, want }] of Object.entries(cases)) {
    it(sentence, () => expect(plainLine(tallyOf(report, code))).toBe(want));
  }

  const unread = { name: '/x/unread.test.ts', status: 'failed', message: 'SyntaxError: unexpected }' };
  const waited = {
    ...{ name: '/x/story.e2e.ts', status: 'failed' },
    assertionResults: [{ fullName: 'a story', status: 'failed', failureMessages: ['WaitTimeout: not within 240 s'] }],
  };

  it('counts a file that could not be loaded, and every other failure, beside a test that failed', () => {
    const report = JSON.stringify({ numPassedTests: 3, numFailedTests: 1, testResults: [unread, waited] });
    const { failed, failures = [] } = tallyOf(report, 1, ['after the tests: the lab left behind: process 7\nand 8']);
    expect(failed).toBe(3);
    expect(failures).toHaveLength(3);
    expect(failures.at(-1)).toBe('after the tests: the lab left behind: process 7');
  });

  it('is explained by one failure, which is not counted again for the exit code', () => {
    const report = (testResults: readonly object[]): string => JSON.stringify({ numPassedTests: 3, testResults });
    expect(tallyOf(report([unread]), 1).failed).toBe(1);
    expect(tallyOf(report([]), 1, ['unhandled: x']).failed).toBe(1);
  });

  it('says what failed and the first words of why, also of a file that could not be loaded', () => {
    const testResults = [
      { name: '/x/good.test.ts', status: 'passed', assertionResults: [{ fullName: 'well', status: 'passed' }] },
      { name: '/x/unread.test.ts', status: 'failed', message: 'SyntaxError: unexpected }\n  at line 3' },
      {
        ...{ name: '/x/bad.test.ts', status: 'failed' },
        assertionResults: [
          { fullName: 'well', status: 'passed' },
          { fullName: 'ill', status: 'failed', failureMessages: ['Error: expected 1 to be 2\n  at file.ts:3'] },
        ],
      },
    ];
    const { failures = [] } = tallyOf(JSON.stringify({ numPassedTests: 2, numFailedTests: 2, testResults }), 1);
    expect(failures.map((text) => text.replace(/^\S*\//, ''))).toEqual([
      'unread.test.ts: SyntaxError: unexpected }',
      'bad.test.ts: ill: Error: expected 1 to be 2',
    ]);
  });

  it('adds up over suites', () => {
    expect(
      sum([
        { passed: 2, failed: 0 },
        { passed: 1, failed: 4, failures: ['this one'] },
      ]),
    ).toEqual({ passed: 3, failed: 4, failures: ['this one'] });
  });
});

describe('a check that is one program', () => {
  it('passes or fails as the program does', async () => {
    expect(await runOne('true', [], 60_000)).toMatchObject({ passed: 1, failed: 0 });
    expect(await runOne('false', [], 60_000)).toMatchObject({ passed: 0, failed: 1, failures: ['false'] });
  });

  it('fails when the program does not end in time', async () => {
    const { failed, failures = [] } = await runOne('sleep', ['50'], 1000);
    expect({ failed, failures }).toEqual({ failed: 1, failures: ['sleep: ended after its limit of 1 s'] });
  });
});
