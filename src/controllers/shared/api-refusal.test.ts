import { describe, expect, it } from 'vitest';
import { done } from '../../runtime/outcome.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import { refusalMessage, retryRejected } from './api-refusal.ts';

const signal = new AbortController().signal;
const failing = (kind: FailureKind): Promise<never> => Promise.reject(new Failure(kind, `it is ${kind}`));

describe('a request that the API server refuses', () => {
  it('returns the message of the API server if a user can correct the cause', async () => {
    expect(await refusalMessage(Promise.resolve())).toBeUndefined();
    for (const kind of ['forbidden', 'rejected', 'not-found'] as const)
      expect(await refusalMessage(failing(kind))).toBe(`it is ${kind}`);
    for (const kind of ['conflict', 'unreachable', 'bug'] as const)
      await expect(refusalMessage(failing(kind))).rejects.toThrow(`it is ${kind}`);
  });
});

describe('a rejected pass', () => {
  it('is logged and retried later', async () => {
    const logged: unknown[] = [];
    const pass = (kind?: FailureKind) =>
      retryRejected(async () => (kind === undefined ? done : failing(kind)), {
        log: (...line) => void logged.push(line),
      });
    expect(await pass()('n/b', signal)).toBe(done);
    expect(logged).toEqual([]);
    expect(await pass('rejected')('n/b', signal)).toMatchObject({ is: 'requeue' });
    expect(logged).toMatchObject([['warn', expect.any(String), { key: 'n/b', detail: 'it is rejected' }]]);
    await expect(pass('unreachable')('n/b', signal)).rejects.toThrow('it is unreachable');
  });
});
