import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { pods, secrets } from '../../kube/resource.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import { doubtSecrets, RememberedSecrets } from './remembered-secrets.ts';
import type { Ended } from './visit.ts';

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
  const remembered = new RememberedSecrets({ monotonic: () => now * 1000 });
  /** How often the API server was asked, after a pass at this second. */
  const passAt = async (second: number, resource: unknown = secrets): Promise<number> => {
    now = second;
    await remembered
      .reading('n/db', client as never)(resource as never, at)
      .catch(() => undefined);
    return state.reads;
  };
  return { remembered, state, passAt };
}

describe('a Secret that was read', () => {
  it('is read again after a minute, and other objects always', async () => {
    const { passAt } = setUp();
    expect(await passAt(0)).toBe(1);
    expect(await passAt(59)).toBe(1);
    expect(await passAt(61)).toBe(2);
    expect(await passAt(61.1, pods)).toBe(3);
    expect(await passAt(61.2, pods)).toBe(4);
  });

  it('is read again in the next pass where something speaks against it, though not more than once a second', async () => {
    const { passAt, remembered } = setUp();
    await passAt(0);
    remembered.doubt('n/db');
    expect(await passAt(0.5)).toBe(1);
    remembered.doubt('n/db');
    expect(await passAt(1.5)).toBe(2);
    expect(await passAt(5)).toBe(2);
    remembered.doubt('n/other');
    expect(await passAt(5)).toBe(2);
  });

  it('is read again at once when it was written, and nothing is kept of a cluster that is gone', async () => {
    const { passAt, remembered } = setUp();
    await passAt(0);
    remembered.doubt('n/db');
    remembered.forget('n/db');
    expect(remembered.size).toBe(0);
    remembered.doubt('n/db');
    expect(remembered.size).toBe(0);
    expect(await passAt(0.1)).toBe(2);
  });

  it.each([
    ['not-found', 1],
    ['forbidden', 1],
    ['unreachable', 2],
  ] as const)('is known to be %s, as far as that is an answer', async (kind, reads) => {
    const { passAt, state } = setUp();
    state.fails = kind;
    await passAt(0);
    expect(await passAt(1)).toBe(reads);
  });
});

describe('Secrets are in doubt', () => {
  const world = healthy(3);
  const members = world.membership.seen ? world.membership.value.members : [];
  const withMembers = (health: 'silent' | 'healthy') => ({
    ...world,
    membership: {
      seen: true as const,
      value: { clusterId: 'c', members: members.map((each) => ({ ...each, health })) },
    },
  });
  const isDoubted = (pass: Partial<Ended>): boolean => {
    const doubted: string[] = [];
    const ended = { observed: { world }, verdict: { is: 'settled' }, trouble: {}, ...pass } as Ended;
    doubtSecrets('n/db', ended, { secrets: { doubt: (key: string) => doubted.push(key) } as never });
    return doubted.length > 0;
  };

  it('when etcd does not answer, when they are unfit, and when a step fails', () => {
    expect(isDoubted({})).toBe(false);
    expect(isDoubted({ observed: { world: withMembers('healthy') } })).toBe(false);
    expect(isDoubted({ observed: { world: withMembers('silent') } })).toBe(true);
    expect(isDoubted({ observed: { world: { ...world, secretProblems: ['Secret s is missing'] } } })).toBe(true);
    expect(isDoubted({ observed: { world: { ...world, membership: { seen: false, why: 'x' } } } })).toBe(true);
    expect(isDoubted({ trouble: { failure: new Failure('conflict', 'x') } })).toBe(true);
  });
});
