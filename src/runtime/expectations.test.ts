import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import type { Pod } from '../kube/object.ts';
import { Expectations } from './expectations.ts';
import { Store } from './store.ts';

function setUp(): { clock: VirtualClock; store: Store<Pod>; expectations: Expectations; expired: string[] } {
  const clock = new VirtualClock();
  const expired: string[] = [];
  const expectations = new Expectations({ clock, onExpired: (key, what) => expired.push(`${key}: ${what}`) });
  const store = new Store<Pod>({
    onHandlerFailure: (failure) => {
      throw failure;
    },
  });
  store.replace([samplePod('old', 9)], '10');
  return { clock, store, expectations, expired };
}

describe('an expected write', () => {
  it('is open until the store reaches its resourceVersion', () => {
    const { store, expectations } = setUp();
    expect(expectations.caughtUp('c')).toBe(true);
    expectations.wrote('c', store, samplePod('new', 101));
    expect(expectations.caughtUp('c')).toBe(false);
    expect(expectations.caughtUp('another')).toBe(true);
    store.put(samplePod('x', 99));
    expect(expectations.caughtUp('c')).toBe(false);
    store.put(samplePod('new', 101));
    expect(expectations.caughtUp('c')).toBe(true);
  });

  it('is met by a deletion, a list or a bookmark with a newer resourceVersion', () => {
    for (const later of ['deleted', 'list', 'bookmark']) {
      const { store, expectations } = setUp();
      expectations.wrote('c', store, samplePod('new', 101));
      if (later === 'deleted') store.remove(samplePod('new', 102));
      if (later === 'list') store.replace([], '110');
      if (later === 'bookmark') store.advance('110');
      expect(expectations.caughtUp('c'), later).toBe(true);
    }
  });

  it('is open if the store was listed before the write', () => {
    const { store, expectations } = setUp();
    expectations.wrote('c', store, samplePod('new', 101));
    store.replace([], '100');
    expect(expectations.caughtUp('c')).toBe(false);
  });

  it('expires after a time-out, and the expiry is reported', async () => {
    const { clock, store, expectations, expired } = setUp();
    expectations.wrote('c', store, samplePod('new', 101));
    await clock.advance(29_000);
    expect(expectations.caughtUp('c')).toBe(false);
    await clock.advance(1_000);
    expect(expectations.caughtUp('c')).toBe(true);
    expect(expired).toEqual(['c: Pod default/new at version 101']);
    expect(expectations.caughtUp('c')).toBe(true);
    expect(expired).toHaveLength(1);
  });
});

describe('an expected deletion', () => {
  it.each<[string, (store: Store<Pod>) => void]>([
    ['goes', (store) => store.remove(samplePod('old', 12))],
    ['is going', (store) => store.put(samplePod('old', 12, { deletionTimestamp: '2026-01-01T00:00:00Z' }))],
    ['has a successor', (store) => store.put(samplePod('old', 12, { uid: 'another' }))],
  ])('is open until the object %s', (_, then) => {
    const { store, expectations } = setUp();
    expectations.removed('c', store, samplePod('old', 9));
    expect(expectations.caughtUp('c')).toBe(false);
    store.put(samplePod('old', 11));
    expect(expectations.caughtUp('c')).toBe(false);
    then(store);
    expect(expectations.caughtUp('c')).toBe(true);
  });

  it('is not met by a store that has not yet seen the object created', () => {
    const { store, expectations } = setUp();
    expectations.removed('c', store, samplePod('young', 20));
    expect(expectations.caughtUp('c')).toBe(false);
  });

  it('is dropped when the key is forgotten', () => {
    const { store, expectations } = setUp();
    expectations.removed('c', store, samplePod('old', 9));
    expectations.forget('c');
    expect(expectations.caughtUp('c')).toBe(true);
  });
});
