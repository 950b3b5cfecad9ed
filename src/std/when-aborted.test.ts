import { expect, it } from 'vitest';
import { whenAborted } from './when-aborted.ts';

it('is kept when the signal aborts, and not before', async () => {
  const end = new AbortController();
  let isOver = false;
  const over = whenAborted(end.signal).then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  end.abort();
  await over;
  expect(isOver).toBe(true);
});

it('is kept of a signal that had aborted already', async () => {
  await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
});
