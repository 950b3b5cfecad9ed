import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { type Outcome, visitAt } from './outcome.ts';
import { Patience } from './patience.ts';

type Again = Outcome & { readonly is: 'again' };

/** After how many seconds the queue visits a key whose pass waits for a time that is so far off. */
function secondsUntilVisit(chance: number, longestSeconds: number, leftMillis: number | undefined): number {
  const clock = new VirtualClock();
  clock.chance = chance;
  const now = clock.now().getTime();
  const time = leftMillis === undefined ? undefined : now + leftMillis;
  return new Patience<string>(clock).secondsUntilVisit('db', visitAt(time, now, longestSeconds) as Again);
}

it('a visit for a time is never later than that time, however visits are spread', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(chance, fc.integer({ min: -60_000, max: 1_000_000 }), (spread, left) => {
      const seconds = secondsUntilVisit(spread, 300, left);
      expect(seconds).toBeLessThan(Math.max(left, 0) / 1000 + 0.011);
      expect(seconds).toBeLessThan(361);
    }),
  );
  expect(secondsUntilVisit(1, 300, 301_000)).toBeCloseTo(301.01);
});

it('a visit for a time that never comes, or is far off, is about as soon as asked for', () => {
  for (const left of [undefined, 3_600_000]) {
    expect(secondsUntilVisit(0, 300, left)).toBeCloseTo(240);
    expect(secondsUntilVisit(1, 300, left)).toBeCloseTo(360);
  }
});
