import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { type Outcome, requeueAt } from './outcome.ts';
import { WaitBackoff } from './wait-backoff.ts';

type Requeue = Outcome & { readonly is: 'requeue' };

/** The requeue delay of a pass that waits for a time `leftMillis` ahead. */
function secondsUntilRequeue(chance: number, longestSeconds: number, leftMillis: number | undefined): number {
  const clock = new VirtualClock();
  clock.chance = chance;
  const now = clock.now().getTime();
  const time = leftMillis === undefined ? undefined : now + leftMillis;
  return new WaitBackoff<string>(clock).secondsUntilRequeue('db', requeueAt(time, now, longestSeconds) as Requeue);
}

it('requeueAt never requeues later than its time, whatever the jitter', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(chance, fc.integer({ min: -60_000, max: 1_000_000 }), (spread, left) => {
      const seconds = secondsUntilRequeue(spread, 300, left);
      expect(seconds).toBeLessThan(Math.max(left, 0) / 1000 + 0.011);
      expect(seconds).toBeLessThan(361);
    }),
  );
  expect(secondsUntilRequeue(1, 300, 301_000)).toBeCloseTo(301.01);
});

it('requeueAt without a time, or with a distant one, requeues after about the longest delay', () => {
  for (const left of [undefined, 3_600_000]) {
    expect(secondsUntilRequeue(0, 300, left)).toBeCloseTo(240);
    expect(secondsUntilRequeue(1, 300, left)).toBeCloseTo(360);
  }
});
