import { describe, expect, it } from 'vitest';
import type { ReadCluster } from '../../src/apis/common/dialect.ts';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import type { ClusterObject, ControllerContext } from '../../src/controllers/shared/context.ts';
import { writerFor } from '../../src/controllers/shared/writer.ts';
import { memberPodManifest } from '../../src/core/manifests/pod.ts';
import { memberClaim } from '../../src/core/manifests/pvc.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { KubeObject, NamespacedName, Stored } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { makeCaches } from '../../src/operator/wiring/caches.ts';
import { allDialects, clustersOf, type DialectName, peersOf } from '../../src/operator/wiring/served.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Expectations } from '../../src/runtime/expectations.ts';
import type { Store } from '../../src/runtime/store.ts';
import { Failure } from '../../src/std/failure.ts';
import { SimulatedMembers } from './simulated-members.ts';

const version = '3.5.21';
const members = ['db-0', 'db-1', 'db-2'];
const now = '2026-01-01T00:00:00Z';
const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const auth = { operatorCredentials: 'root-user' };
const statusFields = { clusterId: 'c1', bootstrap: { members, token: 't' } };

const declared: Readonly<Record<DialectName, object>> = {
  coreos: {
    spec: { size: 3, version, auth, pod: { persistentVolumeClaimSpec: storage } },
    status: {
      ...statusFields,
      currentVersion: version,
      memberStatus: members.map((name) => ({ name, role: 'voter' })),
    },
  },
  improbable: {
    spec: { replicas: 3, version, auth, storage: { volumeClaimTemplate: storage } },
    status: { ...statusFields, members: members.map((name, i) => ({ name, id: String(i + 1), role: 'voter' })) },
  },
};

/** Simulates two namespaces of one operator: a healthy cluster in one, forged objects in the other. */
class TwoNamespaces {
  readonly dialed: { readonly host: string; readonly user: string | undefined }[] = [];
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  readonly #etcd = new SimulatedMembers();
  readonly #cached;
  readonly #read: ReadCluster;
  readonly #context: ControllerContext;
  #version = 1;

  constructor(name: DialectName, spec: object = {}) {
    const dialect = allDialects[name];
    const stored = declared[name] as { spec: object; status: object };
    const { group, kind } = dialect;
    const metadata = { name: 'db', namespace: 'victim', uid: 'victims-uid', generation: 1 };
    const object = {
      ...stored,
      spec: { ...stored.spec, ...spec },
      apiVersion: `${group}/${dialect.version}`,
      kind,
      metadata,
    };
    const read = dialect.read(object);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    this.#read = read.value;
    const places = { clusters: clustersOf(dialect), peers: peersOf(dialect) };
    this.#cached = makeCaches({ ...places, dialect, ...this.#surroundings });
    this.#put(this.#cached.caches.clusters, object);
    const { caches, peers } = this.#cached;
    const expectations = new Expectations({ clock: systemClock, onExpired: () => undefined });
    const writing = {
      client: this.#client as never,
      expectations,
      storeOf: () => undefined,
      onStatus: () => undefined,
    };
    this.#context = {
      ...{ dialect, resource: places.clusters, caches, peers, client: this.#client, isOurs: () => true },
      ...{ writer: (key: string) => writerFor(key, writing), caughtUp: () => true, secondsSinceStatusWrite: () => 100 },
      ...{
        etcd: { to: (endpoint: Endpoint) => this.#dial(endpoint), keepOnly: () => {} },
        mayWriteSecrets: true,
        mayDeleteSecrets: true,
      },
      ...{ absentSecrets: new Map(), now: () => new Date(now), randomName: (of: string) => `${of}-9` },
      ...{ recordEvent: () => undefined, log: () => undefined },
    } as unknown as ControllerContext;
    this.#begin();
  }

  readonly #surroundings = {
    ...{ client: undefined as never, namespace: undefined, withBudgets: true },
    ...{ clock: systemClock, onFailure: () => undefined },
  };

  /** Creates the cluster with a pod, a PVC and, in the improbable API, an EtcdPeer for each member. */
  #begin(): void {
    const { blueprint, peers: objects } = this.#read;
    const { peerURLOf } = blueprint.intent;
    this.#etcd.form(members.map((name) => ({ name, peerURL: peerURLOf(name as never), version })));
    for (const name of members) {
      const body = { name: name as never, version, join: { as: 'restarting' } as const };
      this.#put(this.#cached.caches.pods, running(memberPodManifest(blueprint, body), { name, namespace: 'victim' }));
      this.#put(this.#cached.caches.claims, { ...memberClaim(blueprint, name as never, version), ...bound } as never);
      if (objects !== undefined && this.#cached.peers !== undefined)
        this.#put(this.#cached.peers.store, objects.wanted(body, []));
    }
  }

  /** Copies every object of the victim to another namespace, and adds a pod with an unused hostname. */
  forge(): void {
    const { caches, peers } = this.#cached;
    this.#forgeIn(caches.pods);
    this.#forgeIn(caches.claims);
    if (peers !== undefined) this.#forgeIn(peers.store);
    const evil = caches.pods.get('victim/db-0') as KubeObject & { readonly spec: object };
    this.#put(
      caches.pods,
      running({ ...evil, spec: { ...evil.spec, hostname: 'db-7' } }, { name: 'evil', namespace: 'attacker' }),
    );
  }

  #forgeIn<T extends KubeObject>(store: Store<T>): void {
    for (const object of store.all()) {
      const deletionTimestamp = object.kind === 'EtcdPeer' ? { deletionTimestamp: now } : {};
      const metadata = { ...object.metadata, namespace: 'attacker', ...deletionTimestamp };
      const status = object.kind === 'Pod' ? up(`evil-${metadata.name}`) : {};
      this.#put(store, { ...object, ...status, metadata });
    }
  }

  async passes(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await clusterReconciler(this.#context)('victim/db', AbortSignal.timeout(20_000));
  }

  #put<T extends KubeObject>(store: Store<T>, object: T): void {
    const { namespace, name } = object.metadata;
    const identity = { uid: `${namespace}-${name}`, creationTimestamp: now, ...object.metadata };
    const own = namespace === 'victim' ? identity : { ...identity, uid: `${namespace}-${name}` };
    store.put({ ...object, metadata: { ...own, resourceVersion: String(++this.#version) } });
  }

  #dial({ dial, credentials }: Endpoint): unknown {
    const host = dial?.host ?? '';
    this.dialed.push({ host, user: credentials?.user });
    return this.#etcd.connectionTo(host, async (change) => {
      this.writes.push(`etcd ${host}`);
      change();
    });
  }

  #wrote(verb: string, { kind }: Resource<KubeObject>, { namespace, name }: NamespacedName): Stored<ClusterObject> {
    this.writes.push(`${verb} ${kind} ${namespace}/${name}`);
    return { metadata: { namespace, name, uid: 'u', resourceVersion: '9' } } as never;
  }

  readonly #client = {
    get: async ({ plural }: Resource<KubeObject>, { namespace, name }: NamespacedName) => {
      this.reads.push(`${plural} ${namespace}/${name}`);
      const secret = (text: string): string => Buffer.from(text).toString('base64');
      if (plural !== 'secrets' || name !== 'root-user') throw new Failure('not-found', `${name} not found`);
      return { metadata: { namespace, name }, data: { username: secret('root'), password: secret('hunter2') } };
    },
    create: async (resource: Resource<KubeObject>, { metadata }: KubeObject) =>
      this.#wrote('create', resource, metadata),
    patch: async (resource: Resource<KubeObject>, at: NamespacedName) => this.#wrote('patch', resource, at),
    remove: async (resource: Resource<KubeObject>, at: NamespacedName) => this.#wrote('remove', resource, at),
  };
}

const bound = { status: { phase: 'Bound' } };
const up = (podIP: string): object => ({
  status: {
    ...{ phase: 'Running', podIP, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }] },
    containerStatuses: [
      { name: 'etcd', ready: true, restartCount: 0, image: 'x', state: { running: { startedAt: now } } },
    ],
  },
});
const running = (pod: object, { name, namespace }: NamespacedName): never => {
  const { metadata } = pod as KubeObject;
  return { ...pod, ...up(name), metadata: { ...metadata, name, namespace } } as never;
};

const isDestructive = (write: string): boolean => write.startsWith('remove') || write.startsWith('etcd');

describe.each(['coreos', 'improbable'] as const)(
  'a cluster of the %s API with forged copies in another namespace',
  (name) => {
    it('dials and writes the same as without the copies', async () => {
      const [alone, beside] = [new TwoNamespaces(name), new TwoNamespaces(name)];
      beside.forge();
      await alone.passes(3);
      await beside.passes(3);
      expect(new Set(alone.dialed.map(({ host }) => host))).toEqual(new Set(members));
      expect(new Set(alone.dialed.map(({ user }) => user))).toEqual(new Set(['root']));
      expect(beside.dialed).toEqual(alone.dialed);
      expect(beside.writes).toEqual(alone.writes);
      expect(beside.writes.length).toBeGreaterThan(0);
      expect(beside.writes.filter((write) => !write.includes(' victim/') || isDestructive(write))).toEqual([]);
      expect(beside.reads.filter((each) => !each.includes(' victim/'))).toEqual([]);
    });

    it('while paused releases no PVC and no EtcdPeer of the other namespace', async () => {
      const paused = new TwoNamespaces(
        name,
        name === 'coreos' ? { paused: true } : { paused: true, reclaimPolicy: 'Retain' },
      );
      paused.forge();
      await paused.passes(2);
      expect(paused.writes.filter((write) => !write.includes(' victim/'))).toEqual([]);
    });
  },
);
