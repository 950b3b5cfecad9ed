import type { BackupDialect } from '../../src/apis/common/backup-dialect.ts';
import { improbableBackups } from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import { improbableSchedules } from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { backupReconciler } from '../../src/controllers/backup/reconcile.ts';
import { scheduleReconciler } from '../../src/controllers/schedule/reconcile.ts';
import { agentNamespaceIndex, byResourceKey, byResourceUid } from '../../src/controllers/shared/agent-namespace.ts';
import { slotIn } from '../../src/controllers/shared/agent-pods.ts';
import { type ClusterObject, ownerIndex } from '../../src/controllers/shared/context.ts';
import { TerminatingPods } from '../../src/controllers/shared/terminating-pods.ts';
import type { Writer } from '../../src/controllers/shared/writer.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import type { Outcome } from '../../src/runtime/outcome.ts';
import { Store } from '../../src/runtime/store.ts';
import type { Reconcile } from '../../src/runtime/worker.ts';
import { Failure } from '../../src/std/failure.ts';
import { Killed } from './simulated-objects.ts';

export const home = { group: improbableBackups.group, namespace: 'operators' };
const indexes = { [ownerIndex]: byResourceUid(home), [agentNamespaceIndex]: byResourceKey(home) };
const newStore = <T extends KubeObject>(): Store<T> => new Store<T>({ indexes, onHandlerFailure: () => undefined });

/** Simulates an API server with schedules, backups and agent pods, and an operator that can be killed at any write. */
export class SimulatedBackups {
  now: number;
  /** The number of writes until the operator is killed, and whether the last write takes effect. */
  lifetime = { writes: Number.POSITIVE_INFINITY, isLastDone: true };
  readonly schedules = newStore<ClusterObject>();
  readonly backups = newStore<ClusterObject>();
  readonly pods = newStore<Pod>();
  /** Names of all backups that were ever created. */
  readonly createdBackups: string[] = [];
  /** Keys of backups that were reported as complete without a pod that succeeded. */
  readonly falseCompletions: string[] = [];
  /** The scheduled time of each agent pod. */
  readonly podSlots: number[] = [];
  /** Names of Secrets that do not exist. */
  readonly missing = new Set<string>();
  /** Resources that the API server refuses to create. */
  readonly refused = new Set<string>();
  /** True if the node is lost, so that no kubelet stops pods. */
  isNodeLost = false;
  /** UIDs of pods, one entry for each deletion request. */
  readonly deletedPodUids: string[] = [];
  /** Reasons of all recorded Events. */
  readonly eventReasons: string[] = [];
  /** The outcome of the last pass over each object. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #signal = new AbortController().signal;
  /** How far the API server's clock is ahead of the operator's clock. */
  skewMillis = 0;
  readonly #terminating = new TerminatingPods({ monotonic: () => this.now });
  readonly #dialect: BackupDialect;
  #version = 0;

  constructor(now: number, dialect = improbableBackups) {
    this.now = now;
    this.#dialect = dialect;
  }

  create<T extends KubeObject>(store: Store<T>, object: T): void {
    if (store.get(keyOf(object.metadata)) !== undefined) throw alreadyExists();
    const creationTimestamp = new Date(Math.floor(this.now / 1000) * 1000).toISOString();
    const stored = { uid: `uid-${++this.#version}`, generation: 1, creationTimestamp };
    this.#put(store, { ...object, metadata: { ...object.metadata, ...stored } });
    if (object.kind === 'EtcdBackup') this.createdBackups.push(object.metadata.name);
    if (object.kind === 'Pod') this.podSlots.push(slotIn(object.metadata.annotations, this.#dialect.group));
  }

  /** Changes the spec of every schedule. */
  edit(spec: object): void {
    for (const schedule of this.schedules.all())
      this.#put(this.schedules, { ...schedule, spec: { ...(schedule.spec as object), ...spec } });
  }

  /** Replaces the spec of every backup. */
  editBackups(spec: unknown): void {
    for (const backup of this.backups.all()) this.#put(this.backups, { ...backup, spec });
  }

  /** Simulates the kubelet and the garbage collector: pods advance by one phase, terminating pods and orphans are removed. */
  work(): void {
    if (this.isNodeLost) return;
    for (const pod of this.pods.all())
      if (pod.metadata.deletionTimestamp === undefined) this.#put(this.pods, { ...pod, status: afterStep(pod) });
      else this.pods.remove(pod);
    for (const backup of this.backups.all()) if (this.#isOrphan(backup)) this.backups.remove(backup);
    for (const pod of this.pods.all()) if (this.#isOrphan(pod)) this.pods.remove(pod);
  }

  /** Reconciles every schedule and backup once. Throws when the operator is killed. */
  async pass(): Promise<void> {
    const [ofSchedules, ofBackups] = [this.#schedules(), this.#backups()];
    for (const { metadata } of this.schedules.all()) await this.#passOver(keyOf(metadata), ofSchedules);
    const ofAgents = this.pods.all().flatMap(byResourceKey(home));
    const keys = new Set([...this.backups.all().map(({ metadata }) => keyOf(metadata)), ...ofAgents]);
    for (const key of keys) await this.#passOver(key, ofBackups);
  }

  async #passOver(key: string, reconcile: Reconcile<string>): Promise<void> {
    this.outcomes.set(key, await reconcile(key, this.#signal));
  }

  #isOrphan({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
    const existing = new Set([...this.schedules.all(), ...this.backups.all()].map(({ metadata }) => metadata.uid));
    return ownerReferences.some(({ uid }) => !existing.has(uid));
  }

  #put<T extends KubeObject>(store: Store<T>, object: T): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    store.put({ ...object, metadata } as Stored<T>);
  }

  #stores(plural: string): Store<never> {
    const stores = { etcdbackupschedules: this.schedules, etcdbackups: this.backups, pods: this.pods };
    return stores[plural as keyof typeof stores] as unknown as Store<never>;
  }

  /** Applies a write unless the operator is killed before it. */
  #writeIfAlive(write: () => void): void {
    const { lifetime } = this;
    if (lifetime.writes <= 0) throw new Killed();
    lifetime.writes -= 1;
    if (lifetime.writes > 0) return write();
    if (lifetime.isLastDone) write();
    throw new Killed();
  }

  #writer(): Writer {
    return {
      create: async ({ plural }, object) => {
        if (this.refused.has(plural)) throw new ApiFailure('forbidden', `${plural} are forbidden: exceeded quota`);
        this.#writeIfAlive(() => this.create(this.#stores(plural), object as never));
      },
      patch: async ({ plural }, at, { body }) =>
        this.#writeIfAlive(() => this.#patch(this.#stores(plural), keyOf(at), body)),
      remove: async ({ plural }, at) =>
        this.#writeIfAlive(() =>
          plural === 'pods' ? this.#deletePod(keyOf(at)) : this.#remove(this.#stores(plural), keyOf(at)),
        ),
    };
  }

  #remove(store: Store<never>, key: string): void {
    const object = store.get(key);
    if (object !== undefined) store.remove(object);
  }

  /** Marks a pod as terminating; the kubelet removes it later. */
  #deletePod(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    this.deletedPodUids.push(pod.metadata.uid);
    const time = new Date(this.now + this.skewMillis + 10_000).toISOString();
    const { deletionTimestamp = time } = pod.metadata;
    const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 10 };
    this.#put(this.pods, { ...pod, metadata });
  }

  #patch(store: Store<never>, key: string, body: unknown): void {
    const object = store.get(key) as Stored<ClusterObject> | undefined;
    if (object === undefined) throw new Error(`${key} does not exist`);
    const { status } = body as { readonly status: Readonly<Record<string, unknown>> };
    const merged = Object.entries({ ...(object.status as object), ...status }).filter(([, value]) => value !== null);
    if (status['phase'] === 'Completed' && !this.#hasSucceededPod(object)) this.falseCompletions.push(key);
    this.#put(store, { ...object, status: Object.fromEntries(merged) } as never);
  }

  #hasSucceededPod({ metadata: { uid, namespace } }: Stored<ClusterObject>): boolean {
    const places = [namespace, home.namespace];
    return places
      .flatMap((place) => this.pods.by(ownerIndex, place, uid))
      .some(({ status }) => status?.phase === 'Succeeded');
  }

  #shared() {
    return {
      ...{ isOurs: () => true, caughtUp: () => true, log: () => undefined, dialerTo: undefined },
      recordEvent: (_: unknown, { reason }: { readonly reason: string }) => void this.eventReasons.push(reason),
      now: () => new Date(this.now),
      writer: () => this.#writer(),
    };
  }

  #schedules() {
    const [resource, backups] = [
      namespaced<ClusterObject>(improbableSchedules),
      namespaced<ClusterObject>(improbableBackups),
    ];
    return scheduleReconciler({
      ...{ ...this.#shared(), dialect: improbableSchedules, resource, backups },
      caches: { schedules: this.schedules, backups: this.backups },
    });
  }

  #backups() {
    return backupReconciler({
      ...{ ...this.#shared(), dialect: this.#dialect, resource: namespaced<ClusterObject>(this.#dialect) },
      clusters: undefined as never, // no backup names a cluster
      client: {
        get: async (_: unknown, { name }: { readonly name: string }) => {
          if (this.missing.has(name)) throw new Failure('not-found', name);
          return { metadata: { name, labels: { 'etcd-operator/backups': 'true' } }, data: {} } as never;
        },
      },
      operators: { namespace: home.namespace, secret: 'store', serviceAccountName: undefined, urls: [] },
      image: { name: 'etcd-operator' },
      terminating: this.#terminating,
      caches: { backups: this.backups, agents: this.pods },
    });
  }
}

/** Advances a pod from Pending to Running to Succeeded. Pods have no IP, so the operator never reads their progress. */
function afterStep({ status }: Pod): NonNullable<Pod['status']> {
  if (status?.phase === 'Succeeded') return status;
  if (status === undefined) return { phase: 'Running', containerStatuses: [container({ running: {} })] };
  const message = JSON.stringify({ ok: true, url: 's3://b/k', revision: '7', size: 9 });
  return { phase: 'Succeeded', containerStatuses: [container({ terminated: { exitCode: 0, message } })] };
}

const container = (state: object) => ({ name: 'save', state, ready: false, restartCount: 0, image: '', imageID: '' });

const alreadyExists = () => new ApiFailure('conflict', 'object exists already', { reason: 'AlreadyExists' });
