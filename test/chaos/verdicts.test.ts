import { describe, expect, it } from 'vitest';
import type { KeyAnswer, KeyRequest, Operation } from './operation.ts';
import { reportOf, resultOf } from './report.ts';
import { invalidity, type RunFacts, tallyOperations, timesOf } from './verdicts.ts';

const enough = { ok: 100, failed: 1, unknown: 2 };
const run: RunFacts = {
  ...{ seed: 7, minutes: 1, place: 'the lab', seconds: 60, longestGap: 2_345, events: 9, sessions: 3 },
  operations: { put: enough, get: enough, delete: enough, cas: enough },
  faults: { 'kill-member': 2, 'delete-pod': 1 },
  changes: { create: 1 },
  verdicts: [{ question: 'Is the history linearizable?', violations: [] }],
};
const violated = [{ question: 'Is the history linearizable?', violations: ['a: not linearizable'] }];

describe('a run', () => {
  it('with enough answers and faults, and no violation, has passed', () => expect(resultOf(run)).toBe('passed'));

  it('with a violation has failed, even if it did too little', () => {
    expect(resultOf({ ...run, verdicts: violated })).toBe('failed');
    expect(resultOf({ ...run, seconds: 600, verdicts: violated })).toBe('failed');
  });

  it.each<readonly [string, RunFacts, RegExp]>([
    ['with few answers a second', { ...run, seconds: 600 }, /0.7 answers a second/],
    [
      'with few answers of one kind',
      { ...run, operations: { ...run.operations, cas: { ...enough, ok: 19 } } },
      /to cas/,
    ],
    ['with few faults', { ...run, faults: { 'kill-member': 2 } }, /2 faults/],
  ])('%s is invalid, not green', (_title, facts, reason) => {
    expect(resultOf(facts)).toBe('invalid');
    expect(invalidity(facts)).toEqual([expect.stringMatching(reason)]);
  });
});

it('the report has the seed, the result, each verdict with its violations, and all counts', () => {
  const page = reportOf({ ...run, verdicts: violated }, { commit: 'abc', date: '2026-01-31' });
  for (const part of [
    'Result: failed',
    'SEED=7',
    'Commit: abc',
    '2.3 s',
    '| Is the history linearizable? | **no**: 1 violations |',
    '- Is the history linearizable? a: not linearizable',
    '| put | 100 | 1 | 2 |',
    '| kill-member | 2 |',
  ])
    expect(page).toContain(part);
});

describe('a recording', () => {
  const operation = (kind: KeyRequest['kind'], end: number, outcome: KeyAnswer['outcome'] = 'ok'): Operation => ({
    ...{ client: 0, request: { kind, key: 'a' }, call: 0, return: end },
    answer: { ...{ revision: 1, done: true, value: '', modRevision: 0, reason: '' }, outcome },
  });

  it('has tallies by kind and outcome', () => {
    const tallies = tallyOperations([
      operation('put', 1),
      operation('put', 2, 'unknown'),
      operation('get', 1, 'failed'),
    ]);
    expect(tallies).toMatchObject({ put: { ok: 1, failed: 0, unknown: 1 }, get: { ok: 0, failed: 1, unknown: 0 } });
  });

  it('has a length, and the longest time between two acknowledged writes', () => {
    const times = [
      operation('put', 5e6),
      operation('get', 3e6),
      operation('cas', 1e6),
      operation('put', 4e6, 'unknown'),
    ];
    expect(timesOf(times)).toEqual({ seconds: 4, longestGap: 4_000 });
  });
});
