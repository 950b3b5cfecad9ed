import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hadRoom, later } from './later.ts';

const full = (): never => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('tries again until the disk has room', () => {
  const work = vi.fn().mockImplementationOnce(full).mockImplementationOnce(full);
  later(work);
  vi.advanceTimersByTime(10_000);
  expect(work).toHaveBeenCalledTimes(3);
});

it('takes nothing else for a full disk', () => {
  expect(hadRoom(() => undefined)).toBe(true);
  expect(hadRoom(full)).toBe(false);
  expect(() =>
    hadRoom(() => {
      throw new Error('a bug');
    }),
  ).toThrow('a bug');
});
