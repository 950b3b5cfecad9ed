import { expect, it } from 'vitest';
import { afterRestart, type CrashBackoff, mayStartAt } from './backoff.ts';

it('a container restarts at once, then after 10, 20, 40 … 300 seconds', () => {
  let backoff: CrashBackoff | undefined;
  let now = 0;
  const waits = Array.from({ length: 8 }, () => {
    const at = mayStartAt(backoff, now);
    const seconds = (at - now) / 1000;
    now = at;
    backoff = afterRestart(backoff, now);
    return seconds;
  });
  expect(waits).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
});

it('the back-off is reset after ten minutes without a crash', () => {
  const backoff = { seconds: 300, restartedAt: 0 };
  expect(mayStartAt(backoff, 599_000)).toBe(899_000);
  expect(mayStartAt(backoff, 601_000)).toBe(601_000);
  expect(afterRestart(backoff, 601_000).seconds).toBe(10);
});
