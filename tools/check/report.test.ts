import { describe, expect, it } from 'vitest';
import type { Ending } from '../../test/support/story-turns.ts';
import { overBudget } from './budgets.ts';
import type { Pair } from './choose.ts';
import { type RunResult, runReport } from './report.ts';

const ended = (given: Partial<RunResult>): RunResult => ({
  ...{
    lines: [],
    skipped: [],
    endings: [],
    flakes: [],
    leftOut: [],
    tally: { passed: 3, failed: 0 },
    seconds: 61,
    slowness: 1,
  },
  ...given,
});
const linesOf = (given: Partial<RunResult>): readonly string[] => runReport(ended(given)).trimEnd().split('\n');

describe('the report of a run', () => {
  it('ends with the tally on its own line', () => {
    expect(linesOf({}).at(-1)).toBe('3 passed, 0 failed');
  });

  it('lists failures, causes and the evidence within forty lines', () => {
    const failures = Array.from({ length: 100 }, (_, index) => `story ${index}: not within 240 s`);
    const lines = linesOf({ tally: { passed: 1, failed: 100, failures }, reason: 'unit failed: the rest was not run' });
    const last = lines.slice(-40);
    expect(last).toContain('failed: story 0: not within 240 s');
    expect(last).toContain('… and 70 more');
    expect(last.at(-3)).toContain('test-results/');
    expect(last.at(-2)).toBe('unit failed: the rest was not run');
    expect(last.at(-1)).toBe('1 passed, 100 failed');
  });

  it('lists stories that did not run, affected stories first', () => {
    const pair = (title: string, isTouched: boolean): Pair => ({
      title,
      isTouched,
      key: `lab: ${title}`,
      file: 'x.e2e.ts',
      bed: 'lab',
      where: 'everywhere',
    });
    const lines = linesOf({ leftOut: [pair('one', false), pair('two', true)] });
    expect(lines.filter((line) => line.startsWith('not run'))).toEqual([
      'not run or not finished: lab: two (affected by the change)',
      'not run or not finished: lab: one',
    ]);
  });

  it('lists the flakes and the twenty most expensive stories', () => {
    const endings = Array.from(
      { length: 30 },
      (_, index): Ending => ({
        title: `story ${index}.`,
        bed: 'lab',
        outcome: 'passed',
        wallSeconds: 1,
        cpuSeconds: index,
      }),
    );
    const text = linesOf({ endings, flakes: ['a slow one'] }).join('\n');
    expect(text).toContain('run again: a slow one');
    expect(text).toContain('story 10.');
    expect(text).not.toContain('story 9.');
  });
});

describe('a budget', () => {
  it('exists for every suite', () => {
    expect(overBudget({ suite: 'unheard of', cpuSeconds: 1 }, 1)).toContain('has no budget');
  });

  it('may be exceeded by a quarter, and is scaled on slower machines only', () => {
    const cost = (cpuSeconds: number) => ({ suite: 'unit and simulation', cpuSeconds });
    const allowed = 1_000_000;
    expect(overBudget(cost(0.1), 1)).toBeUndefined();
    expect(overBudget(cost(allowed), 1)).toContain('more than a quarter over its budget');
    expect(overBudget(cost(allowed), 0.5)).toContain('more than a quarter over its budget');
    expect(overBudget(cost(allowed), allowed)).toBeUndefined();
  });
});
