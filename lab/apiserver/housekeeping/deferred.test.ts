import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { defer, hadDiskSpace } from './deferred.ts';

const full = (): never => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('deferred work is retried until the disk has space', () => {
  const work = vi.fn().mockImplementationOnce(full).mockImplementationOnce(full);
  defer(work);
  vi.advanceTimersByTime(10_000);
  expect(work).toHaveBeenCalledTimes(3);
});

it('any other error than a full disk is thrown', () => {
  expect(hadDiskSpace(() => undefined)).toBe(true);
  expect(hadDiskSpace(full)).toBe(false);
  expect(() =>
    hadDiskSpace(() => {
      throw new Error('a bug');
    }),
  ).toThrow('a bug');
});
