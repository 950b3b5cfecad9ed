import { describe, expect, it } from 'vitest';
import { done } from '../../runtime/outcome.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import { askingAgain, refusalBy } from './refused.ts';

const signal = new AbortController().signal;
const failing = (kind: FailureKind): Promise<never> => Promise.reject(new Failure(kind, `it is ${kind}`));

describe('what the API server does not let us create', () => {
  it('is told in its words, where somebody can put it right', async () => {
    expect(await refusalBy(Promise.resolve())).toBeUndefined();
    for (const kind of ['forbidden', 'rejected', 'not-found'] as const)
      expect(await refusalBy(failing(kind))).toBe(`it is ${kind}`);
    for (const kind of ['conflict', 'unreachable', 'bug'] as const)
      await expect(refusalBy(failing(kind))).rejects.toThrow(`it is ${kind}`);
  });
});

describe('a pass that is refused', () => {
  it('is tried again after a while, and said', async () => {
    const said: unknown[] = [];
    const pass = (kind?: FailureKind) =>
      askingAgain(async () => (kind === undefined ? done : failing(kind)), {
        log: (...words) => void said.push(words),
      });
    expect(await pass()('n/b', signal)).toBe(done);
    expect(said).toEqual([]);
    expect(await pass('rejected')('n/b', signal)).toMatchObject({ is: 'again' });
    expect(said).toMatchObject([['warn', expect.any(String), { key: 'n/b', detail: 'it is rejected' }]]);
    await expect(pass('unreachable')('n/b', signal)).rejects.toThrow('it is unreachable');
  });
});
