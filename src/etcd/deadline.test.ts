import { afterEach, expect, it, vi } from 'vitest';
import { CallDeadline } from './deadline.ts';

afterEach(() => vi.restoreAllMocks());

/** True if a second request of a call is sent after the process was paused for so long. */
async function sendsAfter(millis: number): Promise<boolean> {
  let paused = 0;
  const began = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => began + paused);
  using deadline = new CallDeadline(5_000, undefined);
  const second = deadline.within(async () => {
    deadline.confirm();
    paused = millis; // no timer has fired yet
    deadline.confirm();
  });
  return await second.then(
    () => true,
    () => deadline.ended !== 'timed-out',
  );
}

it('no request is sent after the deadline of its call, even before the timer fires', async () => {
  expect(await sendsAfter(4_900)).toBe(true);
  expect(await sendsAfter(60_000)).toBe(false);
});

it('no request is sent after the caller aborted', () => {
  using deadline = new CallDeadline(5_000, AbortSignal.abort());
  expect(() => deadline.confirm()).toThrow('deadline');
});
