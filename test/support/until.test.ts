import { expect, it } from 'vitest';
import { until } from './until.ts';

const briefly = { seconds: 0.01 };

it('a timed-out wait throws a WaitTimeout with the last error as its cause', async () => {
  const refused = async (): Promise<never> => Promise.reject(new Error('refused'));
  const never = until('an answer', refused, briefly);
  await expect(never).rejects.toMatchObject({ name: 'WaitTimeout', cause: { message: 'refused' } });
});

it('a wait throws the failed expectation if its last attempt had one', async () => {
  const wrong = until('two', async () => expect(1).toBe(2) as undefined, briefly);
  await expect(wrong).rejects.toMatchObject({ name: 'AssertionError' });
});

it('a wait throws a WaitTimeout if only an earlier attempt had a failed expectation', async () => {
  let asked = 0;
  const late = until('two', async () => (asked++ === 0 ? (expect(asked).toBe(0) as undefined) : undefined), briefly);
  await expect(late).rejects.toMatchObject({ name: 'WaitTimeout' });
  expect(asked).toBeGreaterThan(1);
});
