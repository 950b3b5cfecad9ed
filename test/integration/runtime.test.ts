import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Secret } from '../../src/kube/object.ts';
import { events, leases, secrets } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { EventRecorder } from '../../src/runtime/events.ts';
import { Expectations } from '../../src/runtime/expectations.ts';
import { type Leadership, lead } from '../../src/runtime/lease.ts';
import { done } from '../../src/runtime/outcome.ts';
import { Reflector, whenSynced } from '../../src/runtime/reflector.ts';
import { byLabel } from '../../src/runtime/store.ts';
import { WorkQueue } from '../../src/runtime/work-queue.ts';
import { workers } from '../../src/runtime/worker.ts';
import type { Failure } from '../../src/std/failure.ts';
import { type TestAccess, testAccess } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';

let access: TestAccess;
beforeAll(async () => {
  access = await testAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

const fail = (failure: Failure): void => {
  throw failure;
};
const secret = (name: string, of: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: access.namespace, name, labels: { of } },
});

describe('a controller', () => {
  it('creates each object once, although watch events of its own writes arrive late', async () => {
    const { client, namespace } = access;
    const clock = systemClock;
    const expectations = new Expectations({ clock, onExpired: (_, what) => expect.unreachable(what) });
    const reflector = new Reflector<Secret>({
      client,
      resource: secrets,
      clock,
      namespace,
      labelSelector: 'of',
      pageSize: 2,
      indexes: { of: byLabel('of') },
      onFailure: fail,
    });
    const { store } = reflector;
    const queue = new WorkQueue<string>(clock);
    // Five Secrets for each name. New names come from a counter, so acting on a stale cache would create too many.
    let made = 0;
    const reconcile = async (name: string): Promise<typeof done> => {
      if (!expectations.caughtUp(name)) return done;
      if (store.by('of', namespace, name).length >= 5) return done;
      const created = await client.create(secrets, secret(`${name}-${made++}`, name));
      expectations.wrote(name, store, created);
      queue.add(name);
      return done;
    };
    store.onChange(({ object }) => queue.add(object.metadata.labels?.['of'] ?? ''));
    const stop = new AbortController();
    const onOutcome = (key: string, outcome: { is: string }): void => expect([key, outcome.is]).toEqual([key, 'done']);
    const running = reflector.run(stop.signal);
    await whenSynced([reflector], stop.signal);
    const working = workers({ queue, reconcile, count: 4, clock, onOutcome })(stop.signal);
    const names = ['a', 'b', 'c'];
    for (const name of names) queue.add(name);
    await until('all Secrets are in the cache', async () => store.size === 15 || undefined, { seconds: 10 });
    const gone = store.by('of', namespace, 'b')[0];
    await client.remove(secrets, gone?.metadata ?? { name: '' });
    await until('the deleted Secret is replaced', async () => (store.get(`${namespace}/b-15`) ? true : undefined), {
      seconds: 10,
    });
    await sleep(300);
    expect(made).toBe(16);
    stop.abort();
    await Promise.all([running, working]);
    const { items } = await client.list(secrets, { namespace, labelSelector: 'of' });
    expect(items).toHaveLength(15);
    expect(
      store
        .all()
        .map(({ metadata }) => metadata.uid)
        .sort(),
    ).toEqual(items.map(({ metadata }) => metadata.uid).sort());
  });
});

describe('a lease', () => {
  it('has one holder, and moves at once when the holder stops', async () => {
    const { client, namespace } = access;
    const order: string[] = [];
    const start = (identity: string): { stop: AbortController; ended: Promise<void> } => {
      const stop = new AbortController();
      const work = async ({ lost }: Leadership): Promise<void> => {
        order.push(`${identity} leads`);
        const { promise, resolve } = Promise.withResolvers<void>();
        for (const signal of [stop.signal, lost]) signal.addEventListener('abort', () => resolve());
        await promise;
        order.push(`${identity} ends`);
      };
      const options = { client, namespace, name: 'leader', identity, clock: systemClock, onFailure: fail };
      return { stop, ended: lead({ ...options, retrySeconds: 0.3 }, work, stop.signal) };
    };
    const one = start('one');
    await until('one leads', async () => (order.length === 1 ? true : undefined));
    const two = start('two');
    await sleep(1_500);
    one.stop.abort();
    await one.ended;
    await until('two leads', async () => (order.length === 3 ? true : undefined), { seconds: 3 });
    expect(order).toEqual(['one leads', 'one ends', 'two leads']);
    const { spec } = await client.get(leases, { namespace, name: 'leader' });
    expect(spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1, leaseDurationSeconds: 15 });
    two.stop.abort();
    await two.ended;
    expect((await client.get(leases, { namespace, name: 'leader' })).spec?.holderIdentity).toBeFalsy();
  });
});

describe('an Event', () => {
  it('is stored on the server and counted when it repeats', async () => {
    const { client, namespace } = access;
    const object = await client.create(secrets, secret('regarded', 'events'));
    const source = { component: 'tester', instance: 'tester-1' };
    const recorder = new EventRecorder({ client, clock: systemClock, ...source, onFailure: fail });
    const event = { type: 'Warning', reason: 'Tested', message: 'The test recorded an Event' } as const;
    recorder.record(object, event);
    await recorder.flush(new AbortController().signal);
    recorder.record(object, event);
    await recorder.flush(new AbortController().signal);
    const { items } = await client.list(events, { namespace, fieldSelector: 'involvedObject.name=regarded' });
    expect(items).toMatchObject([{ ...event, count: 2, involvedObject: { uid: object.metadata.uid, kind: 'Secret' } }]);
  });
});
