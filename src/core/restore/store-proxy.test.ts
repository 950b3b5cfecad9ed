import { describe, expect, it } from 'vitest';
import { world } from '../../../test/support/restore-worlds.ts';
import type { RestoreWorld, Seed } from './model.ts';
import { planRestore } from './plan-restore.ts';
import { needsStoreProxy, type StoreProxy } from './store-proxy.ts';

const starting = { name: 'r-store-proxy', uid: 'p', state: 'starting', why: '' } as const;
const serving: StoreProxy = {
  name: 'r-store-proxy',
  refusal: undefined,
  obstacle: undefined,
  pod: { ...starting, state: 'running' },
  hasIdentity: true,
  access: 'current',
};

/** A restore with the operator's credentials, in the phase `proving` unless `over` says otherwise. */
const reading = (storeProxy?: StoreProxy, over: Partial<RestoreWorld> = {}): RestoreWorld => {
  const usual = world('proving');
  return {
    ...usual,
    intent: { ...usual.intent, credentials: 'operators' },
    ...(storeProxy === undefined ? {} : { storeProxy }),
    ...over,
  };
};

describe("the plan of a restore with the operator's credentials", () => {
  it.each([
    ['starts a missing store proxy', { pod: undefined, hasIdentity: false, access: 'unknown' }, 'start-store-proxy'],
    [
      'gives a store proxy its certificate',
      { pod: starting, hasIdentity: false, access: 'unknown' },
      'identify-store-proxy',
    ],
    ['replaces a store proxy that has ended', { pod: { ...starting, state: 'ended' } }, 'discard-store-proxy'],
    ['deletes a store proxy that may not read any more', { refusal: 'not allowed' }, 'discard-store-proxy'],
    ['publishes a new address', { access: 'outdated' }, 'publish-store-proxy'],
    ['checks the backup through a store proxy that serves', {}, 'prove'],
  ] as const)('%s', (_title, facts, kind) => {
    expect(planRestore(reading({ ...serving, ...facts }))).toMatchObject({ is: 'act', step: { kind } });
  });

  it('waits for a store proxy that starts, with its problem', () => {
    const pod = { ...starting, why: 'image not found' };
    const verdict = planRestore(reading({ ...serving, pod, access: 'unknown' }));
    expect(verdict).toEqual({ is: 'wait', message: expect.stringMatching(/^waiting for .*: image not found$/) });
  });

  it.each([
    ['a refusal', { refusal: 'not allowed', pod: undefined }, 'not allowed'],
    [
      'a refusal, with a store proxy that is terminating',
      { refusal: 'no', pod: { ...starting, isTerminating: true } },
      'no',
    ],
    [
      'a missing Secret',
      { obstacle: 'Secret "store" does not exist', pod: undefined },
      'Secret "store" does not exist',
    ],
    ['a foreign Secret', { access: 'foreign' }, 'belong to this restore'],
  ] as const)('is blocked by %s', (_title, facts, message) => {
    const verdict = planRestore(reading({ ...serving, ...facts }));
    expect(verdict).toMatchObject({ is: 'wait', isBlocked: true, message: expect.stringContaining(message) });
  });

  it('keeps the message of a restore that waits for its readers, and still replaces the store proxy', () => {
    const cluster = { seed: seedThatReads };
    const [late, ended] = [{ pod: starting, access: 'unknown' }, { pod: { ...starting, state: 'ended' } }] as const;
    const over = { ...world('seeding', { cluster }), intent: reading().intent };
    expect(planRestore({ ...over, storeProxy: { ...serving, ...late } })).toMatchObject({
      message: expect.stringContaining('seed member db-new is not ready'),
    });
    expect(planRestore({ ...over, storeProxy: { ...serving, ...ended } })).toMatchObject({ is: 'act' });
  });
});

const seedThatReads: Seed = {
  ...{ name: 'db-new', uid: 's', state: 'starting', why: 'it reads the backup' },
  ...{ isHandedOver: false, clusterId: undefined },
};

describe('the store proxy', () => {
  const isNeeded = (of: RestoreWorld): boolean => needsStoreProxy(planRestore(of), of);

  it('is observed only for a restore that reads with the credentials of the operator', () => {
    expect(isNeeded(reading())).toBe(true);
    expect(isNeeded(world('proving'))).toBe(false);
    expect(isNeeded(reading(undefined, { obstacle: 'blocked' }))).toBe(false);
    expect(isNeeded({ ...reading(), memory: world('complete').memory })).toBe(false);
  });

  it('is observed once in a pass', () => {
    expect(isNeeded(reading(serving))).toBe(false);
  });
});
