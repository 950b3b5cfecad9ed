import { expect, it } from 'vitest';
import { unlessAborted, whenAborted } from './when-aborted.ts';

it('whenAborted resolves when the signal aborts, not before', async () => {
  const end = new AbortController();
  let isOver = false;
  const over = whenAborted(end.signal).then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  end.abort();
  await over;
  expect(isOver).toBe(true);
});

it('whenAborted resolves at once for an aborted signal', async () => {
  await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
});

it('unlessAborted rejects when the signal aborts, before or during the wait', async () => {
  const never = new Promise<never>(() => {});
  const stop = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), undefined)).toBe(1);
  expect(await unlessAborted(Promise.resolve(1), stop.signal)).toBe(1);
  const waiting = unlessAborted(never, stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(unlessAborted(never, stop.signal)).rejects.toThrow('enough');
});
