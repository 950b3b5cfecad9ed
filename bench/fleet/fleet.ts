import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject, NamespacedName, Pod, Stored } from '../../src/kube/object.ts';
import {
  customResourceDefinitions,
  namespaced,
  namespaces,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  services,
} from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Reflector } from '../../src/runtime/reflector.ts';
import { type Api, coreos, improbable } from '../../test/support/apis.ts';
import { crdsOf, peersOf } from './crds.ts';
import { StandInEtcd } from './etcd.ts';
import type { StandInCluster } from './etcd-cluster.ts';
import { ownerIndex, StandInKubelets } from './kubelets.ts';

export type EtcdClusterObject = KubeObject & {
  readonly spec?: unknown;
  readonly status?: Readonly<Record<string, unknown>>;
};

interface MadeObject {
  readonly resource: Resource<KubeObject>;
  readonly object: Stored<KubeObject>;
}

export const apis = { coreos, improbable } as const;
export const oldVersion = '3.5.30';
export const newVersion = '3.5.31';

/** The number of concurrent requests of the bench: as many as the operator's default number of workers. */
export const concurrency = 16;
const clustersPerNamespace = 100;
const giveUpSeconds = 300;

/** Runs `work` for each item, some of them at once. */
export async function forEach<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnce = concurrency,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** A fleet of clusters on a real kube-apiserver, with stand-ins for kubelets, etcd and the garbage collector. */
export class Fleet implements AsyncDisposable {
  readonly api: Api;
  readonly client: HttpKubeClient;
  readonly etcd: StandInEtcd;
  readonly kubelets: StandInKubelets;
  readonly resource: Resource<EtcdClusterObject>;
  readonly clusters: Reflector<EtcdClusterObject>;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #waits = new Set<() => void>();
  #made = 0;

  private constructor(client: HttpKubeClient, etcd: StandInEtcd, api: Api) {
    this.api = api;
    this.client = client;
    this.etcd = etcd;
    this.kubelets = new StandInKubelets(client, etcd);
    const [plural = '', ...group] = api.resource.split('.');
    const version = api.apiVersion.split('/')[1] ?? '';
    this.resource = namespaced<EtcdClusterObject>({ group: group.join('.'), version, plural, kind: 'EtcdCluster' });
    const onFailure = (failure: Error): void => void process.stderr.write(`${failure.message}\n`);
    const clock = systemClock;
    this.clusters = new Reflector<EtcdClusterObject>({ client, resource: this.resource, clock, onFailure });
    for (const store of [this.clusters.store, this.kubelets.pods.store]) store.onChange(() => this.#wake());
    this.#running = Promise.all([this.clusters, this.kubelets.pods].map((each) => each.run(this.#stop.signal)));
  }

  static async start(client: HttpKubeClient, api: Api): Promise<Fleet> {
    for (const crd of crdsOf(api)) await client.create(customResourceDefinitions, crd);
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'operator' } });
    return new Fleet(client, await StandInEtcd.start(), api);
  }

  /** New names, each with its namespace. */
  async names(count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, () => nameOf(this.#made++));
    for (const name of new Set(names.map((each) => each.split('/')[0] ?? ''))) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await this.client.create(namespaces, namespace).catch(() => {});
    }
    return names;
  }

  /** A declared cluster of three. */
  manifest(key: string, scope = 'clusterwide'): EtcdClusterObject {
    const { api } = this;
    const spec = api.specOf({ size: 3, version: oldVersion });
    const annotations = { [`${this.resource.group}/scope`]: scope };
    return { apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { ...at(key), annotations }, spec };
  }

  async create(keys: readonly string[]): Promise<void> {
    await forEach(keys, (key) => this.client.create(this.resource, this.manifest(key)));
  }

  /** Creates clusters that the operator does not touch: of another scope, or paused. */
  async createIgnored(keys: readonly string[]): Promise<void> {
    const paused = this.api.name === 'improbable' ? { paused: true } : {};
    await forEach(keys, (key) => {
      const manifest = this.manifest(key, 'by-hand');
      return this.client.create(this.resource, { ...manifest, spec: { ...(manifest.spec as object), ...paused } });
    });
  }

  async patch(keys: readonly string[], spec: object): Promise<void> {
    await forEach(keys, (key) => this.client.patch(this.resource, at(key), { type: 'merge', body: { spec } }));
  }

  /** Deletes clusters, and their objects as the garbage collector does. */
  async delete(keys: readonly string[]): Promise<void> {
    await forEach(keys, async (key) => {
      const uid = this.clusters.store.get(key)?.metadata.uid ?? '';
      await this.client.remove(this.resource, at(key));
      for (const { resource, object } of await this.objectsOf(key))
        await this.client.remove(resource, object.metadata, { gracePeriodSeconds: 0 });
      this.kubelets.forget(uid);
    });
  }

  /** The objects that the operator made for a cluster. */
  async objectsOf(key: string): Promise<readonly MadeObject[]> {
    const { namespace, name } = at(key);
    const labelSelector = `${this.api.label}=${name}`;
    const kinds = [services, podDisruptionBudgets, persistentVolumeClaims, pods, ...peersOf(this.api)];
    const lists = kinds.map(async (kind) => {
      const resource: Resource<KubeObject> = kind;
      const { items } = await this.client.list(resource, { namespace, labelSelector });
      return items.map((object): MadeObject => ({ resource, object }));
    });
    return (await Promise.all(lists)).flat();
  }

  etcdOf(key: string): StandInCluster | undefined {
    return this.kubelets.clusterOf(this.clusters.store.get(key)?.metadata.uid ?? '');
  }

  podsOf(key: string): readonly Stored<Pod>[] {
    const uid = this.clusters.store.get(key)?.metadata.uid ?? '';
    return this.kubelets.pods.store.by(ownerIndex, at(key).namespace, uid);
  }

  /** True if the status shows the version, and all members as ready. */
  isRunning(key: string, { size = 3, version = oldVersion } = {}): boolean {
    const { status = {} } = this.clusters.store.get(key) ?? {};
    const { ready, version: versionField } = this.api.status;
    return status[ready] === size && status[versionField] === version;
  }

  /** Waits until `isSo` holds for each of the clusters; it is asked again when an object of the fleet changes. */
  async until(what: string, keys: readonly string[], isSo: (key: string) => boolean): Promise<void> {
    let left = keys;
    const deadline = performance.now() + giveUpSeconds * 1000;
    while (true) {
      left = left.filter((key) => !isSo(key));
      if (left.length === 0) return;
      if (performance.now() > deadline) throw new Error(`${what}: ${left.length} clusters left, such as ${left[0]}`);
      await this.#change();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.etcd[Symbol.asyncDispose]();
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waits.add(resolve);
    await Promise.race([promise, sleep(1_000)]);
    await sleep(20); // changes come in groups
    this.#waits.delete(resolve);
  }

  #wake(): void {
    for (const resolve of this.#waits) resolve();
  }
}

const nameOf = (index: number): string => `fleet-${Math.floor(index / clustersPerNamespace)}/cluster-${index}`;

/** The name and namespace in a key. */
export function at(key: string): NamespacedName & { readonly namespace: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
