import { afterEach, expect, it, vi } from 'vitest';
import { CallLimit } from './limit.ts';

afterEach(() => vi.restoreAllMocks());

/** Whether a second request of one call is sent when the process stood still for so long after the first. */
async function sendsAfter(millis: number): Promise<boolean> {
  let stoodStill = 0;
  const began = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => began + stoodStill);
  using limit = new CallLimit(5_000, undefined);
  const second = limit.within(async () => {
    limit.confirm();
    stoodStill = millis; // no timer can have fired by now
    limit.confirm();
  });
  return await second.then(
    () => true,
    () => limit.ended !== 'timed-out',
  );
}

it('a request is not sent once the time of its call is over, before any timer has fired', async () => {
  expect(await sendsAfter(4_900)).toBe(true);
  expect(await sendsAfter(60_000)).toBe(false);
});

it('a request is not sent for a caller that has called it off', () => {
  using limit = new CallLimit(5_000, AbortSignal.abort());
  expect(() => limit.confirm()).toThrow('over');
});
