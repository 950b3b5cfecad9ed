import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';
import { Controller, type ControllerOptions, type Loop } from './controller.ts';
import { done } from './outcome.ts';
import { Store } from './store.ts';

const metadata = { name: 'db', namespace: 'n', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const declared = (generation: number, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'EtcdCluster',
  metadata: { ...metadata, generation, resourceVersion },
});

const controllerWith = (options: Partial<ControllerOptions> = {}): Controller =>
  new Controller({
    client: { create: async () => 'created' } as never,
    clock: systemClock,
    leads: undefined,
    identity: 'us',
    workers: 1,
    onFailure: () => undefined,
    onOutcome: () => undefined,
    onExpired: () => undefined,
    ...options,
  });

/** A cache that is complete when `synced` resolves, and runs until it is stopped. */
const cache = (synced: Promise<void>): Loop['caches'][number] => ({
  synced,
  run: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
});

describe('a controller', () => {
  it('begins when its own caches and those of other controllers are complete', async () => {
    const { promise: synced, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const controller = controllerWith({ onOutcome: () => stop.abort() });
    const passes: string[] = [];
    controller.queue.add('n/db');
    const running = controller.run(
      {
        caches: [cache(Promise.resolve())],
        otherCaches: [{ synced }],
        reconcile: async (key) => {
          passes.push(key);
          return done;
        },
        isOver: () => false,
      },
      stop.signal,
    );
    await new Promise((later) => setTimeout(later, 20));
    expect(passes).toEqual([]);
    resolve();
    await running;
    expect(passes).toEqual(['n/db']);
  });

  it('drops the memories of a key that is over, except those to keep', async () => {
    const stop = new AbortController();
    const controller = controllerWith({ onOutcome: () => stop.abort() });
    const [dropped, kept] = ['dropped', 'kept'].map((name) => controller.memories.map(name).set('n/db', 1));
    controller.queue.add('n/db');
    const loop = { caches: [], reconcile: async () => done, isOver: () => true, keptMemories: () => ['kept'] };
    await controller.run(loop, stop.signal);
    expect([dropped?.size, kept?.size]).toEqual([0, 1]);
    expect(controller.remembered()).toMatchObject({ dropped: 0, kept: 1 });
  });

  it('tells a change of the spec from a change of the status', () => {
    const controller = controllerWith();
    const store = new Store<ReturnType<typeof declared>>({ onHandlerFailure: () => undefined });
    const changed: string[] = [];
    controller.enqueueChangesOf(store as never, (key) => changed.push(key));
    store.put(declared(1, '1'));
    store.put(declared(1, '2'));
    expect(changed).toEqual(['n/db']);
    store.put(declared(2, '3'));
    expect(changed).toEqual(['n/db', 'n/db']);
  });

  it('writes only while it leads', async () => {
    const { client } = controllerWith({ leads: () => false });
    await expect(client.create({} as never, {} as never)).rejects.toThrow('no longer holds the leader lease');
  });
});
