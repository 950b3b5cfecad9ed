import { describe, expect, it } from 'vitest';
import { plainLine, runOne, sum, tallyOf } from './suites.ts';

describe('the tally of a suite', () => {
  const cases: Record<string, { report: string; code: number; want: string }> = {
    'counts passed and failed tests': {
      report: '{"numPassedTests":3,"numFailedTests":1}',
      code: 1,
      want: '3 passed, 1 failed',
    },
    'is a failure without any test': {
      report: '{"numPassedTests":0,"numFailedTests":0}',
      code: 0,
      want: '0 passed, 1 failed',
    },
    'is a failure without a report': { report: '{}', code: 0, want: '0 passed, 1 failed' },
    'is a failure if all tests passed but the exit code is not 0': {
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
    name: '/x/story.e2e.ts',
    status: 'failed',
    assertionResults: [{ fullName: 'a story', status: 'failed', failureMessages: ['WaitTimeout: not within 240 s'] }],
  };

  it('counts a file that failed to load, and other failures, beside a failed test', () => {
    const report = JSON.stringify({ numPassedTests: 3, numFailedTests: 1, testResults: [unread, waited] });
    const { failed, failures = [] } = tallyOf(report, 1, ['after the tests: the lab left behind: process 7\nand 8']);
    expect(failed).toBe(3);
    expect(failures).toHaveLength(3);
    expect(failures.at(-1)).toBe('after the tests: the lab left behind: process 7');
  });

  it('does not count the exit code besides an explained failure', () => {
    const report = (testResults: readonly object[]): string => JSON.stringify({ numPassedTests: 3, testResults });
    expect(tallyOf(report([unread]), 1).failed).toBe(1);
    expect(tallyOf(report([]), 1, ['unhandled: x']).failed).toBe(1);
  });

  it('lists failures with the first line of their errors, also for a file that failed to load', () => {
    const testResults = [
      { name: '/x/good.test.ts', status: 'passed', assertionResults: [{ fullName: 'well', status: 'passed' }] },
      { name: '/x/unread.test.ts', status: 'failed', message: 'SyntaxError: unexpected }\n  at line 3' },
      {
        name: '/x/bad.test.ts',
        status: 'failed',
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

describe('runOne', () => {
  it('passes or fails by the exit code', async () => {
    expect(await runOne('true', [], 60_000)).toMatchObject({ passed: 1, failed: 0 });
    expect(await runOne('false', [], 60_000)).toMatchObject({ passed: 0, failed: 1, failures: ['false'] });
  });

  it('fails at the time limit', async () => {
    const { failed, failures = [] } = await runOne('sleep', ['50'], 1000);
    expect({ failed, failures }).toEqual({ failed: 1, failures: ['sleep: killed at its limit of 1 s'] });
  });
});
