import { describe, expect, it } from 'vitest';
import { Failure, unless } from './failure.ts';

describe('Failure', () => {
  it('from returns a Failure unchanged', () => {
    const failure = new Failure('conflict', 'the object changed');
    expect(Failure.from(failure)).toBe(failure);
  });

  it('from turns any other error into a bug with its cause', () => {
    const cause = new TypeError('x is undefined');
    expect(Failure.from(cause)).toMatchObject({ kind: 'bug', message: 'unexpected: x is undefined', cause });
  });

  it('unless replaces one kind of failure by a value, and rethrows the others', async () => {
    const missing = Promise.reject(new Failure('not-found', 'no such pod'));
    expect(await unless('not-found', missing, undefined)).toBeUndefined();
    const refused = Promise.reject(new Failure('rejected', 'no'));
    await expect(unless('not-found', refused, undefined)).rejects.toThrow('no');
  });
});
