import { describe, expect, it } from 'vitest';
import { Failure, unless } from './failure.ts';

describe('a failure', () => {
  it('stays what it is when it is passed on', () => {
    const failure = new Failure('conflict', 'somebody wrote first');
    expect(Failure.from(failure)).toBe(failure);
  });

  it('is our bug when nobody translated it, and keeps its cause', () => {
    const cause = new TypeError('x is undefined');
    expect(Failure.from(cause)).toMatchObject({ kind: 'bug', message: 'unexpected: x is undefined', cause });
  });

  it('can be answered with a value, if it is of that one kind', async () => {
    const missing = Promise.reject(new Failure('not-found', 'no such pod'));
    expect(await unless('not-found', missing, undefined)).toBeUndefined();
    const refused = Promise.reject(new Failure('rejected', 'no'));
    await expect(unless('not-found', refused, undefined)).rejects.toThrow('no');
  });
});
