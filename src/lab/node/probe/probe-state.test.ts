import { expect, it } from 'vitest';
import { afterResult, type Probe, type ProbeState, unprobed } from './probe-state.ts';

const after = (probe: Probe, results: string): ProbeState['verdict'][] => {
  let state = unprobed;
  return results.split('').map((each) => {
    state = afterResult(state, probe, each === '+' ? 'success' : 'failure');
    return state.verdict;
  });
};

it('changes its verdict only after as many results in a row as the thresholds ask for', () => {
  expect(after({ failureThreshold: 2 }, '+-+--')).toEqual(['success', 'success', 'success', 'success', 'failure']);
  expect(after({ successThreshold: 2, failureThreshold: 1 }, '+-++')).toEqual([
    'unknown',
    'failure',
    'failure',
    'success',
  ]);
});

it('takes one success and three failures, unless told otherwise', () => {
  expect(after({}, '---+')).toEqual(['unknown', 'unknown', 'failure', 'success']);
});
