import { expect, it } from 'vitest';
import { afterResult, type Probe, type ProbeState, unprobed } from './probe-state.ts';

const after = (probe: Probe, results: string): ProbeState['verdict'][] => {
  let state = unprobed;
  return results.split('').map((each) => {
    state = afterResult(state, probe, each === '+' ? 'success' : 'failure');
    return state.verdict;
  });
};

it('the verdict of a probe changes only after as many equal results in a row as its threshold', () => {
  expect(after({ failureThreshold: 2 }, '+-+--')).toEqual(['success', 'success', 'success', 'success', 'failure']);
  expect(after({ successThreshold: 2, failureThreshold: 1 }, '+-++')).toEqual([
    'unknown',
    'failure',
    'failure',
    'success',
  ]);
});

it('the default thresholds are one success and three failures', () => {
  expect(after({}, '---+')).toEqual(['unknown', 'unknown', 'failure', 'success']);
});
