import { describe, expect, it } from 'vitest';
import { ConditionDurations } from './condition-durations.ts';

/** Records `holding` after so many seconds each; undefined is a failed observation. Returns the duration of `x`. */
function after(...observations: readonly (readonly [seconds: number, holding: readonly string[] | undefined])[]) {
  let now = 1_000_000;
  const durations = new ConditionDurations({ monotonic: () => now });
  let last: ReturnType<ConditionDurations['record']> = new Map();
  for (const [seconds, holding] of observations) {
    now += seconds * 1000;
    if (holding === undefined) durations.skip('key');
    else last = durations.record('key', holding);
  }
  return last.get('x');
}

describe('the duration of a condition', () => {
  it('counts from the first observation', () => {
    expect(after([0, ['x']])).toEqual({ millis: 0, observations: 1 });
    expect(after([5, ['x']], [10, ['x']], [7, ['x', 'y']])).toEqual({ millis: 17_000, observations: 3 });
  });

  it('restarts after an observation without the condition', () => {
    expect(after([0, ['x']], [10, []], [10, ['x']], [3, ['x']])).toEqual({ millis: 3_000, observations: 2 });
  });

  it('continues after failed observations, without counting the gap', () => {
    expect(after([0, ['x']], [10, ['x']], [50, undefined], [2, ['x']])).toEqual({ millis: 12_000, observations: 3 });
  });

  it('counts a minute at most between two observations, however long the pass between them took', () => {
    const observations = [
      [0, ['x']],
      [50, ['x']],
      [150, ['x']],
      [299, ['x']],
    ] as const;
    expect(after(...observations)).toEqual({ millis: 170_000, observations: 4 });
  });

  it('restarts after a gap of more than five minutes, such as an invalid spec', () => {
    expect(after([0, ['x']], [60, ['x']], [301, ['x']])).toEqual({ millis: 0, observations: 1 });
    expect(after([0, ['x']], [60, ['x']], [86_400, ['x']], [10, ['x']])).toEqual({ millis: 10_000, observations: 2 });
  });

  it('restarts after a longer series of failed observations', () => {
    const failedObservations = Array.from({ length: 30 }, () => [10, undefined] as const);
    expect(after([0, ['x']], [60, ['x']], ...failedObservations, [10, ['x']])).toEqual({ millis: 0, observations: 1 });
    expect(after([0, ['x']], [60, ['x']], [86_400, undefined], [10, ['x']])).toEqual({ millis: 0, observations: 1 });
  });
});

it('forget drops all durations of a key', () => {
  const durations = new ConditionDurations({ monotonic: () => 0 });
  durations.record('key', ['x']);
  durations.forget('key');
  expect(durations.size).toBe(0);
  durations.skip('key');
  expect(durations.size).toBe(0);
});

it('restart resets one condition only', () => {
  let now = 0;
  const durations = new ConditionDurations({ monotonic: () => now });
  durations.record('key', ['x', 'y']);
  durations.restart('key', 'x');
  now = 1_000;
  const lasting = durations.record('key', ['x', 'y']);
  expect([lasting.get('x'), lasting.get('y')]).toEqual([
    { millis: 0, observations: 1 },
    { millis: 1_000, observations: 2 },
  ]);
});
