import { text } from 'node:stream/consumers';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { type KubeObject, keyOf, type Pod } from '../../src/kube/object.ts';
import { pods, type Resource } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Reflector } from '../../src/runtime/reflector.ts';
import { at, type EtcdClusterObject, forEach } from './fleet.ts';

/** The input of this program: what the operator made for one cluster, and the clusters to make in the same way. */
export interface ByHand {
  readonly kubeconfig: string;
  readonly declared: Resource<EtcdClusterObject>;
  readonly model: { readonly key: string; readonly status: object; readonly objects: readonly Made[] };
  readonly clusters: readonly { readonly key: string; readonly uid: string }[];
}

interface Made {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

/**
 * Makes clusters without an operator, with the least writes: a status with the bootstrap members, all objects, a status
 * once the cluster has formed, an annotation on each pod that forbids another bootstrap, and a last status. The client
 * and its concurrency are those of the operator.
 */
class Maker {
  readonly #client: HttpKubeClient;
  readonly #input: ByHand;
  readonly #pods: Reflector<Pod>;
  /** The number of statuses written of each cluster: each differs, so that the API server writes it. */
  readonly #writes = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  constructor(client: HttpKubeClient, input: ByHand) {
    this.#client = client;
    this.#input = input;
    this.#pods = new Reflector<Pod>({ client, resource: pods, clock: systemClock, onFailure: () => {} });
    this.#pods.store.onChange(({ object: { metadata, status } }) => {
      if (status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'))
        this.#waiting.get(keyOf(metadata))?.();
    });
  }

  async run(): Promise<void> {
    const stop = new AbortController();
    const watching = this.#pods.run(stop.signal);
    await this.#pods.synced;
    const finished: Promise<unknown>[] = [];
    await forEach(this.#input.clusters, async (cluster) => {
      await this.#writeStatus(cluster.key);
      const made = this.#input.model.objects.map(({ resource, object }) => ({
        resource,
        object: this.#copy(object, cluster),
      }));
      const ready = made.filter(({ object: { kind } }) => kind === 'Pod').map(({ object }) => this.#ready(object));
      await Promise.all(made.map(({ resource, object }) => this.#client.create(resource, object)));
      finished.push(Promise.all(ready).then(() => this.#form(cluster.key, made)));
    });
    await Promise.all(finished);
    stop.abort();
    await watching;
  }

  async #form(key: string, made: readonly Made[]): Promise<void> {
    await this.#writeStatus(key);
    const body = { metadata: { annotations: { 'by-hand/bootstrap': 'forbidden' } } };
    const patched = made
      .filter(({ object: { kind } }) => kind === 'Pod')
      .map(({ resource, object: { metadata } }) => this.#client.patch(resource, metadata, { type: 'merge', body }));
    await Promise.all(patched);
    await this.#writeStatus(key);
  }

  #ready({ metadata }: KubeObject): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(keyOf(metadata), resolve);
    return promise;
  }

  async #writeStatus(key: string): Promise<void> {
    const { declared, model } = this.#input;
    const size = this.#writes.get(key) ?? 0;
    this.#writes.set(key, size + 1);
    const body = { status: { ...model.status, size, replicas: size } };
    await this.#client.patch(declared, at(key), { type: 'merge', subresource: 'status', body });
  }

  /** The same object for another cluster. */
  #copy(object: KubeObject, { key, uid }: ByHand['clusters'][number]): KubeObject {
    const { namespace, name } = at(key);
    const model = at(this.#input.model.key);
    const copied = JSON.parse(JSON.stringify(object).replaceAll(model.name, name)) as KubeObject;
    const { name: objectName, labels, annotations, ownerReferences = [] } = copied.metadata;
    const owners = ownerReferences.map((owner) => ({ ...owner, uid }));
    const metadata = { name: objectName, namespace, labels, annotations, ownerReferences: owners };
    return { ...copied, metadata } as KubeObject;
  }
}

if (import.meta.main) {
  const input = JSON.parse(await text(process.stdin)) as ByHand;
  const connection = connectTo(await fromKubeconfig(input.kubeconfig), { userAgent: 'by-hand' });
  const began = performance.now();
  await new Maker(new HttpKubeClient(connection, { fieldManager: 'by-hand' }), input).run();
  await connection.close();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6 }));
}
