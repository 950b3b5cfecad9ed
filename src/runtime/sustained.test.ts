import { describe, expect, it } from 'vitest';
import { Sustained } from './sustained.ts';

/** Looks at `holding` after so many seconds each; undefined: nothing could be seen. Gives back how long `x` has held. */
function after(...looks: readonly (readonly [seconds: number, holding: readonly string[] | undefined])[]) {
  let now = 1_000_000;
  const sustained = new Sustained({ monotonic: () => now });
  let last: ReturnType<Sustained['note']> = new Map();
  for (const [seconds, holding] of looks) {
    now += seconds * 1000;
    if (holding === undefined) sustained.skip('key');
    else last = sustained.note('key', holding);
  }
  return last.get('x');
}

describe('what holds in every look', () => {
  it('has lasted from the first look on', () => {
    expect(after([0, ['x']])).toEqual({ millis: 0, looks: 1 });
    expect(after([5, ['x']], [10, ['x']], [7, ['x', 'y']])).toEqual({ millis: 17_000, looks: 3 });
  });

  it('begins anew once it did not hold', () => {
    expect(after([0, ['x']], [10, []], [10, ['x']], [3, ['x']])).toEqual({ millis: 3_000, looks: 2 });
  });

  it('goes on after looks that saw nothing, without the time of these', () => {
    expect(after([0, ['x']], [10, ['x']], [50, undefined], [2, ['x']])).toEqual({ millis: 12_000, looks: 3 });
  });

  it('counts a minute at most between two looks, however long the pass between them took', () => {
    expect(after([0, ['x']], [50, ['x']], [150, ['x']], [299, ['x']])).toEqual({ millis: 170_000, looks: 4 });
  });

  it('begins anew after more than five minutes without a look, as while a spec was refused', () => {
    expect(after([0, ['x']], [60, ['x']], [301, ['x']])).toEqual({ millis: 0, looks: 1 });
    expect(after([0, ['x']], [60, ['x']], [86_400, ['x']], [10, ['x']])).toEqual({ millis: 10_000, looks: 2 });
  });

  it('begins anew after a longer time in which looks saw nothing', () => {
    const blind = Array.from({ length: 30 }, () => [10, undefined] as const);
    expect(after([0, ['x']], [60, ['x']], ...blind, [10, ['x']])).toEqual({ millis: 0, looks: 1 });
    expect(after([0, ['x']], [60, ['x']], [86_400, undefined], [10, ['x']])).toEqual({ millis: 0, looks: 1 });
  });
});

it('nothing is left of a key that is forgotten', () => {
  const sustained = new Sustained({ monotonic: () => 0 });
  sustained.note('key', ['x']);
  sustained.forget('key');
  expect(sustained.size).toBe(0);
  sustained.skip('key');
  expect(sustained.size).toBe(0);
});

it('what turned out not to hold begins anew, and nothing else does', () => {
  let now = 0;
  const sustained = new Sustained({ monotonic: () => now });
  sustained.note('key', ['x', 'y']);
  sustained.startAgain('key', 'x');
  now = 1_000;
  const lasting = sustained.note('key', ['x', 'y']);
  expect([lasting.get('x'), lasting.get('y')]).toEqual([
    { millis: 0, looks: 1 },
    { millis: 1_000, looks: 2 },
  ]);
});
