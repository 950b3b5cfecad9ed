import { describe, expect, it } from 'vitest';
import { plainLine, sum, tallyOf } from './suites.ts';

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

  it('adds up over suites', () => {
    expect(
      sum([
        { passed: 2, failed: 0 },
        { passed: 1, failed: 4 },
      ]),
    ).toEqual({ passed: 3, failed: 4 });
  });
});
