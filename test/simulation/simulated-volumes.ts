import type { ClusterDialect } from '../../src/apis/common/dialect.ts';
import { Watched } from '../../src/controllers/cluster/observe/watched.ts';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import { type ControllerContext, clusterIndex, ownerIndex } from '../../src/controllers/shared/context.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { SimulatedMembers } from './simulated-members.ts';
import { SimulatedObjects, type StoredObject } from './simulated-objects.ts';
import { statusOf, versionOf } from './simulated-pods.ts';

interface ClusterStatus {
  readonly keptVolumes?: readonly { readonly name: string; readonly member: string; readonly until?: string }[];
}

/** Simulates one cluster with PVCs, its kubelets and etcd, and an operator that can be restarted. */
export class SimulatedVolumes {
  readonly violations: string[] = [];
  readonly events: string[] = [];
  readonly objects = new SimulatedObjects();
  readonly #members = new SimulatedMembers();
  readonly #dialect: ClusterDialect;
  /** By PVC UID: the ID of the member that has written to the volume. */
  readonly #writtenBy = new Map<string, bigint>();
  /** UIDs of pods on lost nodes. */
  readonly #lost = new Set<string>();
  #now = Date.parse('2026-01-01T00:00:00Z');
  #names = 0;
  #reconcile: ReturnType<typeof clusterReconciler>;

  constructor(dialect: ClusterDialect, spec: object) {
    this.#dialect = dialect;
    const metadata = { name: 'db', namespace: 'n', uid: 'u', generation: 1 };
    this.objects.put('etcdclusters', { metadata, spec });
    this.#reconcile = clusterReconciler(this.#context());
  }

  get claims(): readonly StoredObject[] {
    return this.objects.all('persistentvolumeclaims');
  }

  get pods(): readonly Stored<Pod>[] {
    return this.objects.all('pods') as readonly KubeObject[] as readonly Stored<Pod>[];
  }

  get kept(): NonNullable<ClusterStatus['keptVolumes']> {
    return ((this.objects.find('etcdclusters', 'db')?.status ?? {}) as ClusterStatus).keptVolumes ?? [];
  }

  get memberNames(): readonly string[] {
    return this.#members.entries.map(({ name }) => name).toSorted();
  }

  updateSpec(spec: object): void {
    const before = this.objects.find('etcdclusters', 'db') as StoredObject;
    this.objects.put('etcdclusters', { ...before, spec: { ...(before.spec as unknown as object), ...spec } as never });
  }

  /** Deletes the EtcdCluster and creates it again with the same spec. */
  recreate(): void {
    const { spec } = this.objects.find('etcdclusters', 'db') as StoredObject;
    this.objects.deleteObject('etcdclusters', 'db');
    const metadata = { name: 'db', namespace: 'n', uid: 'u2', generation: 1 };
    this.objects.put('etcdclusters', { metadata, spec: spec as never });
    this.restartOperator();
  }

  /** Replaces the operator process, so that its observed durations start at zero. */
  restartOperator(): void {
    this.#reconcile = clusterReconciler(this.#context());
  }

  loseNodeOf(pod: string): void {
    this.#lost.add(this.objects.find('pods', pod)?.metadata.uid ?? '');
    this.#members.stop(pod);
  }

  /** Advances the clock, with one pass every `every` seconds. */
  async pass(seconds: number, every = 10): Promise<void> {
    for (let gone = 0; gone < seconds; gone += every) {
      await this.#reconcile('n/db', new AbortController().signal);
      this.#now += every * 1000;
      this.#nodesAct();
    }
  }

  #nodesAct(): void {
    for (const { peerURL } of this.#members.entries) {
      const name = new URL(peerURL).hostname.split('.')[0] ?? '';
      if (!this.pods.some((pod) => pod.metadata.name === name)) this.#members.stop(name);
    }
    this.#form();
    for (const pod of this.pods) if (!this.#lost.has(pod.metadata.uid)) this.#run(pod);
    for (const pod of this.pods) {
      const isUp = this.#members.isUp(pod.metadata.name);
      const status = statusOf(pod, { isUp, image: versionOf(pod), now: new Date(this.#now) });
      this.objects.put('pods', { ...pod, status });
    }
    this.#members.settle();
  }

  #form(): void {
    const annotation = (pod: Stored<Pod>, text: string) =>
      pod.metadata.annotations?.[`${this.#dialect.group}/initial-cluster${text}`] ?? '';
    const bootstrapMembers = this.pods.filter((pod) => annotation(pod, '-state') === 'new');
    const [first] = bootstrapMembers;
    if (first === undefined || this.#members.entries.length > 0) return;
    const list = annotation(first, '')
      .split(',')
      .map((each) => each.split('='));
    if (bootstrapMembers.length < list.length) return;
    this.#members.form(list.map(([name = '', peerURL = '']) => ({ name, peerURL, version: versionOf(first) })));
    for (const pod of bootstrapMembers) this.#write(pod);
  }

  #run(pod: Stored<Pod>): void {
    const { name } = pod.metadata;
    const writer = this.#writtenBy.get(this.#claimOf(pod)?.metadata.uid ?? '');
    this.#checkVolume(name, this.#claimOf(pod), writer);
    if (this.#members.isUp(name)) return;
    if (this.#members.start({ name, version: versionOf(pod), hasData: writer !== undefined })) this.#write(pod);
  }

  #checkVolume(name: string, claim: StoredObject | undefined, writer: bigint | undefined): void {
    if (JSON.stringify([claim?.metadata.labels]).includes('/removed-member'))
      this.violations.push(`${name} runs on PVC ${claim?.metadata.name} of a removed member`);
    const { id = writer } = this.#members.named(name) ?? {};
    if (writer !== undefined && writer !== id) this.violations.push(`${name} has the volume of another member`);
  }

  #write(pod: Stored<Pod>): void {
    const { id } = this.#members.named(pod.metadata.name) ?? {};
    if (id !== undefined) this.#writtenBy.set(this.#claimOf(pod)?.metadata.uid ?? '', id);
  }

  #claimOf({ spec }: Stored<Pod>): StoredObject | undefined {
    const volume = spec?.volumes?.find(({ name }) => name === 'etcd-data');
    return this.objects.find('persistentvolumeclaims', volume?.persistentVolumeClaim?.claimName ?? '');
  }

  #context(): ControllerContext {
    const { objects } = this;
    const { clusterLabel } = this.#dialect;
    const cacheOf = (plural: string) => ({
      get: (key: string) => objects.find(plural, key.split('/')[1] ?? ''),
      by: (index: string, _: string, value: string) =>
        objects.all(plural).filter(({ metadata: { ownerReferences = [], labels = {} } }) => {
          if (index === ownerIndex) return ownerReferences.some(({ uid }) => uid === value);
          return index === clusterIndex && labels[clusterLabel] === value;
        }),
    });
    const write = async (change: () => void): Promise<void> => change();
    const to = ({ dial }: Endpoint) => this.#members.connectionTo(dial?.host ?? '', write);
    return {
      ...{ dialect: this.#dialect, resource: namespaced(this.#dialect), isOurs: () => true, client: objects.client },
      ...{
        etcd: { to, keepOnly: () => {} },
        writer: () => objects.writer,
        caughtUp: () => true,
        secondsSinceStatusWrite: () => 10,
      },
      caches: {
        ...{ clusters: cacheOf('etcdclusters'), pods: cacheOf('pods'), claims: cacheOf('persistentvolumeclaims') },
        ...{ services: cacheOf('services'), budgets: cacheOf('poddisruptionbudgets') },
      },
      ...{
        mayWriteSecrets: true,
        mayDeleteSecrets: true,
        absentSecrets: new Map(),
        dialerTo: undefined,
        list: objects.client.list,
      },
      watched: new Watched({ monotonic: () => this.#now }),
      recordEvent: (_: unknown, { reason, message }: { reason: string; message: string }) =>
        void this.events.push(`${reason} ${message}`),
      ...{ log: () => undefined, now: () => new Date(this.#now) },
      randomName: (cluster: string) => `${cluster}-${this.#names++}`,
    } as unknown as ControllerContext;
  }
}
