import { describe, expect, it } from 'vitest';
import { healthy } from '../../../../test/support/worlds.ts';
import { pods, secrets } from '../../../kube/resource.ts';
import { Failure, type FailureKind } from '../../../std/failure.ts';
import type { Ended } from '../visit.ts';
import { invalidateSecrets, SecretCache } from './secret-cache.ts';

const at = { namespace: 'n', name: 's' };

function setUp() {
  let now = 0;
  const state = { reads: 0, fails: undefined as FailureKind | undefined };
  const client = {
    get: async () => {
      state.reads++;
      if (state.fails !== undefined) throw new Failure(state.fails, 'no');
      return { data: { read: String(state.reads) } };
    },
  };
  const cache = new SecretCache({ monotonic: () => now * 1000 });
  /** Returns the number of reads after a pass at this second. */
  const passAt = async (second: number, resource: unknown = secrets): Promise<number> => {
    now = second;
    await cache
      .reading('n/db', client as never)(resource as never, at)
      .catch(() => undefined);
    return state.reads;
  };
  return { cache, state, passAt };
}

describe('a cached Secret', () => {
  it('is read again after a minute; other objects are always read', async () => {
    const { passAt } = setUp();
    expect(await passAt(0)).toBe(1);
    expect(await passAt(59)).toBe(1);
    expect(await passAt(61)).toBe(2);
    expect(await passAt(61.1, pods)).toBe(3);
    expect(await passAt(61.2, pods)).toBe(4);
  });

  it('is read again in the next pass after an invalidation, at most once a second', async () => {
    const { passAt, cache } = setUp();
    await passAt(0);
    cache.invalidate('n/db');
    expect(await passAt(0.5)).toBe(1);
    cache.invalidate('n/db');
    expect(await passAt(1.5)).toBe(2);
    expect(await passAt(5)).toBe(2);
    cache.invalidate('n/other');
    expect(await passAt(5)).toBe(2);
  });

  it('is read again at once after a write, and a forgotten cluster leaves no entry', async () => {
    const { passAt, cache } = setUp();
    await passAt(0);
    cache.invalidate('n/db');
    cache.forget('n/db');
    expect(cache.size).toBe(0);
    cache.invalidate('n/db');
    expect(cache.size).toBe(0);
    expect(await passAt(0.1)).toBe(2);
  });

  it.each([
    ['not-found', 1],
    ['forbidden', 1],
    ['unreachable', 2],
  ] as const)('that is %s is cached unless the API server is unreachable', async (kind, reads) => {
    const { passAt, state } = setUp();
    state.fails = kind;
    await passAt(0);
    expect(await passAt(1)).toBe(reads);
  });
});

describe('cached Secrets are invalidated', () => {
  const world = healthy(3);
  const members = world.membership.seen ? world.membership.value.members : [];
  const withMembers = (health: 'silent' | 'healthy') => ({
    ...world,
    membership: {
      seen: true as const,
      value: { clusterId: 'c', members: members.map((each) => ({ ...each, health })) },
    },
  });
  const isInvalidated = (pass: Partial<Ended>): boolean => {
    const invalidated: string[] = [];
    const ended = { observed: { world }, verdict: { is: 'settled' }, trouble: {}, ...pass } as Ended;
    invalidateSecrets('n/db', ended, { secrets: { invalidate: (key: string) => invalidated.push(key) } as never });
    return invalidated.length > 0;
  };

  it('if etcd does not answer, if a Secret is invalid, or if a step fails', () => {
    expect(isInvalidated({})).toBe(false);
    expect(isInvalidated({ observed: { world: withMembers('healthy') } })).toBe(false);
    expect(isInvalidated({ observed: { world: withMembers('silent') } })).toBe(true);
    expect(isInvalidated({ observed: { world: { ...world, secretProblems: ['Secret s is missing'] } } })).toBe(true);
    expect(isInvalidated({ observed: { world: { ...world, membership: { seen: false, why: 'x' } } } })).toBe(true);
    expect(isInvalidated({ trouble: { failure: new Failure('conflict', 'x') } })).toBe(true);
  });
});
