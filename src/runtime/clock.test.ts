import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { backoffSeconds, pause, systemClock } from './clock.ts';

describe('pause', () => {
  it('returns after its time, and early when the signal aborts', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    let ended = 0;
    const both = [pause(clock, 1000, stop.signal), pause(clock, 5000, stop.signal)].map(async (wait) => {
      await wait;
      ended++;
    });
    await clock.advance(1500);
    expect(ended).toBe(1);
    stop.abort();
    await Promise.all(both);
    expect(clock.planned).toBe(0);
    await pause(clock, 5000, stop.signal);
  });

  it('takes real time on the system clock, and a timer can be cancelled', async () => {
    const began = systemClock.monotonic();
    const cancel = systemClock.after(5, () => expect.unreachable());
    cancel();
    await pause(systemClock, 20, new AbortController().signal);
    expect(systemClock.monotonic() - began).toBeGreaterThan(15);
  });

  it('does not return at once if the delay exceeds the longest timer of Node', async () => {
    const cancel = systemClock.after(2 ** 31, () => expect.unreachable());
    await pause(systemClock, 20, new AbortController().signal);
    cancel();
  });
});

describe('backoffSeconds', () => {
  it('doubles up to a limit, with jitter over its upper half', () => {
    const clock = new VirtualClock();
    const backoff = { firstSeconds: 1, mostSeconds: 10 };
    clock.chance = 0;
    expect([1, 2, 3, 4, 5, 500].map((n) => backoffSeconds(clock, backoff, n))).toEqual([0.5, 1, 2, 4, 5, 5]);
    clock.chance = 0.5;
    expect(backoffSeconds(clock, backoff, 1)).toBe(0.75);
  });
});
