import { describe, expect, it } from 'vitest';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import type { Tools } from '../../src/controllers/cluster/sources.ts';
import { writerFor } from '../../src/controllers/cluster/writer.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { At, KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Expectations } from '../../src/runtime/expectations.ts';
import { confirmLeading, whileLeading } from '../../src/runtime/while-leading.ts';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onDisks = { pod: { persistentVolumeClaimSpec: claim } };
const otherDisks = { pod: { persistentVolumeClaimSpec: { ...claim, storageClassName: 'fast' } } };
const otherPods = { pod: { ...onDisks.pod, etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };

/** Calls of a connection that change etcd. */
const changes = new Set(['memberAdd', 'memberRemove', 'memberPromote', 'memberUpdate', 'moveLeader', 'downgrade']);

/**
 * One pass of an operator whose process is stopped right after so many of its calls, reads and writes, to Kubernetes and to
 * etcd. When it goes on, another operator leads.
 */
class SuspendedPass {
  calls = 0;
  readonly writes: string[] = [];
  /** What reached the API server or etcd after it had led. */
  readonly late: string[] = [];
  readonly #callsUntilStop: number;

  constructor(callsUntilStop = Number.POSITIVE_INFINITY) {
    this.#callsUntilStop = callsUntilStop;
  }

  async run(life: SimulatedUpgrade): Promise<this> {
    const signal = new AbortController().signal;
    await clusterReconciler(this.#tools(life.tools()))('n/db', signal).catch(() => undefined);
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

  #tools(tools: Tools): Tools {
    const client = whileLeading(this.#client(tools), this.#leads);
    const expectations = new Expectations({ clock: systemClock, onExpired: () => undefined });
    const writing = { client, expectations, storeOf: () => undefined, onStatus: () => undefined };
    const to = (endpoint: Endpoint) => this.#connection(tools.etcd.to(endpoint));
    return {
      ...tools,
      client,
      writer: (key) => writerFor(key, writing),
      etcd: { to, keepOnly: () => {} } as never,
      leads: this.#leads,
    };
  }

  #client({ client, writer }: Tools): KubeClient {
    const own = writer('n/db');
    return {
      get: (resource: Resource<KubeObject>, at: At) => this.#call('get', false, () => client.get(resource, at)),
      create: (resource: Resource<KubeObject>, object: KubeObject) =>
        this.#call(`create ${resource.plural}`, true, () => own.create(resource, object)),
      patch: (resource: Resource<KubeObject>, at: At, how: never) =>
        this.#call(`patch ${resource.plural}`, true, () => own.patch(resource, at, how)),
      remove: (resource: Resource<KubeObject>, at: At, how: never) =>
        this.#call(`remove ${resource.plural}`, true, () => own.remove(resource, at, how)),
    } as unknown as KubeClient;
  }

  /** As those of `connectionsWhileLeading`, it asks before it sends a change. */
  #connection<T extends object>(connection: T): T {
    const calls = Object.entries(connection).map(([name, method]) => [
      name,
      async (...options: unknown[]) => {
        if (changes.has(name)) confirmLeading(this.#leads);
        const call = method as (...options: unknown[]) => Promise<unknown>;
        return this.#call(name, changes.has(name), () => call(...options));
      },
    ]);
    return Object.fromEntries(calls) as T;
  }
}

/** Stops each pass that writes something after each of its calls. Gives back what was written meanwhile by those that lead. */
async function stoppedEverywhere(life: SimulatedUpgrade): Promise<ReadonlySet<string>> {
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
    calm = life.isAsWanted() ? calm + 1 : 0;
  }
  expect(life.isAsWanted()).toBe(true);
  return written;
}

describe('an operator that is suspended after any call writes nothing more when another leads', () => {
  it.each([
    {
      does: 'shrinks',
      from: { size: 3, ...onDisks },
      to: { size: 1 },
      writes: ['memberRemove', 'remove pods', 'patch persistentvolumeclaims'],
    },
    {
      does: 'replaces volumes',
      from: { size: 3, ...onDisks },
      to: otherDisks,
      writes: ['memberAdd', 'memberPromote', 'memberRemove'],
    },
    {
      does: 'makes pods again',
      from: { size: 3, ...onDisks },
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
    life.want(to);
    expect([...(await stoppedEverywhere(life))]).toEqual(expect.arrayContaining(writes));
    expect(life.members.violations).toEqual([]);
  });
});
