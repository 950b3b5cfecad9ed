import { describe, expect, it } from 'vitest';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import type { ControllerContext } from '../../src/controllers/shared/context.ts';
import { writerFor } from '../../src/controllers/shared/writer.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { KubeObject, NamespacedName } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Expectations } from '../../src/runtime/expectations.ts';
import { assertLeading, fencedKubeClient } from '../../src/runtime/fenced-kube-client.ts';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onVolumes = { pod: { persistentVolumeClaimSpec: claim } };
const otherVolumes = { pod: { persistentVolumeClaimSpec: { ...claim, storageClassName: 'fast' } } };
const otherPods = { pod: { ...onVolumes.pod, etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };

/** Calls of a connection that change etcd. */
const changes = new Set(['memberAdd', 'memberRemove', 'memberPromote', 'memberUpdate', 'moveLeader', 'downgrade']);

/**
 * Runs one pass of an operator that loses its lease after a number of calls to Kubernetes or etcd, as a suspended process
 * does.
 */
class SuspendedPass {
  calls = 0;
  readonly writes: string[] = [];
  /** Writes that reached the API server or etcd after the lease was lost. */
  readonly late: string[] = [];
  readonly #callsUntilStop: number;

  constructor(callsUntilStop = Number.POSITIVE_INFINITY) {
    this.#callsUntilStop = callsUntilStop;
  }

  async run(life: SimulatedUpgrade): Promise<this> {
    const signal = new AbortController().signal;
    await clusterReconciler(this.#context(life.context()))('n/db', signal).catch(() => undefined);
    return this;
  }

  readonly #leads = (): boolean => this.calls < this.#callsUntilStop;

  async #call<T>(what: string, isWrite: boolean, work: () => Promise<T>): Promise<T> {
    if (isWrite) (this.#leads() ? this.writes : this.late).push(what);
    try {
      return await work();
    } finally {
      this.calls += 1;
    }
  }

  #context(context: ControllerContext): ControllerContext {
    const client = fencedKubeClient(this.#client(context), this.#leads);
    const expectations = new Expectations({ clock: systemClock, onExpired: () => undefined });
    const writing = { client, expectations, storeOf: () => undefined, onStatus: () => undefined };
    const to = (endpoint: Endpoint) => this.#connection(context.etcd.to(endpoint));
    return {
      ...context,
      client,
      writer: (key) => writerFor(key, writing),
      etcd: { to, keepOnly: () => {} } as never,
      leads: this.#leads,
    };
  }

  #client({ client, writer }: ControllerContext): KubeClient {
    const own = writer('n/db');
    return {
      get: (resource: Resource<KubeObject>, at: NamespacedName) =>
        this.#call('get', false, () => client.get(resource, at)),
      create: (resource: Resource<KubeObject>, object: KubeObject) =>
        this.#call(`create ${resource.plural}`, true, () => own.create(resource, object)),
      patch: (resource: Resource<KubeObject>, at: NamespacedName, how: never) =>
        this.#call(`patch ${resource.plural}`, true, () => own.patch(resource, at, how)),
      remove: (resource: Resource<KubeObject>, at: NamespacedName, how: never) =>
        this.#call(`remove ${resource.plural}`, true, () => own.remove(resource, at, how)),
    } as unknown as KubeClient;
  }

  /** Checks the lease before each change, as the connections of `connectionsWhileLeading` do. */
  #connection<T extends object>(connection: T): T {
    const calls = Object.entries(connection).map(([name, method]) => [
      name,
      async (...options: unknown[]) => {
        if (changes.has(name)) assertLeading(this.#leads);
        const call = method as (...options: unknown[]) => Promise<unknown>;
        return this.#call(name, changes.has(name), () => call(...options));
      },
    ]);
    return Object.fromEntries(calls) as T;
  }
}

/** Suspends every writing pass after each of its calls. Returns the writes of the passes that kept the lease. */
async function suspendedEverywhere(life: SimulatedUpgrade): Promise<ReadonlySet<string>> {
  const written = new Set<string>();
  for (let pass = 0, calm = 0; pass < 200 && calm < 3; pass += 1) {
    const before = life.copy();
    const { calls, writes } = await new SuspendedPass().run(life);
    for (const write of writes) written.add(write);
    for (let stop = 0; writes.length > 0 && stop < calls; stop += 1) {
      const stopped = await new SuspendedPass(stop).run(before.copy());
      expect(stopped.late, `stopped after call ${stop} of pass ${pass}, which writes ${writes.join()}`).toEqual([]);
    }
    life.nodesAct();
    calm = life.matchesSpec() ? calm + 1 : 0;
  }
  expect(life.matchesSpec()).toBe(true);
  return written;
}

describe('an operator that loses its lease after any call writes nothing afterwards', () => {
  it.each([
    {
      does: 'shrinks',
      from: { size: 3, ...onVolumes },
      to: { size: 1 },
      writes: ['memberRemove', 'remove pods', 'patch persistentvolumeclaims'],
    },
    {
      does: 'replaces volumes',
      from: { size: 3, ...onVolumes },
      to: otherVolumes,
      writes: ['memberAdd', 'memberPromote', 'memberRemove'],
    },
    {
      does: 'recreates pods',
      from: { size: 3, ...onVolumes },
      to: otherPods,
      writes: ['remove pods', 'moveLeader', 'create pods'],
    },
    {
      does: 'upgrades',
      from: { size: 3, version: '3.5.35' },
      to: { version: '3.6.16' },
      writes: ['patch pods', 'patch etcdclusters'],
    },
  ])('while it $does', { timeout: 120_000 }, async ({ from, to, writes }) => {
    const life = await SimulatedUpgrade.of({ version: '3.6.16', ...from });
    life.updateSpec(to);
    expect([...(await suspendedEverywhere(life))]).toEqual(expect.arrayContaining(writes));
    expect(life.members.violations).toEqual([]);
  });
});
