import { slotAnnotation } from '../../src/controllers/agents/agent-of-pod.ts';
import { awayIndex, byAway, byEmployer } from '../../src/controllers/agents/away.ts';
import { TerminatingPods } from '../../src/controllers/agents/terminating-pods.ts';
import { backupReconciler } from '../../src/controllers/backup/reconcile.ts';
import { type ClusterObject, ownerIndex } from '../../src/controllers/cluster/sources.ts';
import type { Writer } from '../../src/controllers/cluster/writer.ts';
import { scheduleReconciler } from '../../src/controllers/schedule/reconcile.ts';
import type { BackupDialect } from '../../src/dialects/backup-dialect.ts';
import { improbableBackups } from '../../src/dialects/improbable-v1alpha1/backup.ts';
import { improbableSchedules } from '../../src/dialects/improbable-v1alpha1/schedule.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import type { Outcome } from '../../src/runtime/outcome.ts';
import { Store } from '../../src/runtime/store.ts';
import type { Reconcile } from '../../src/runtime/worker.ts';
import { Failure } from '../../src/std/failure.ts';

export const home = { group: improbableBackups.group, namespace: 'operators' };
const indexes = { [ownerIndex]: byEmployer(home), [awayIndex]: byAway(home) };
const shelf = <T extends KubeObject>(): Store<T> => new Store<T>({ indexes, onHandlerFailure: () => undefined });

/** The operator was killed. */
export class Killed extends Error {}

/** An API server with schedules, backups and pods in it, pods that do what they are for, and an operator that can be killed at any write. */
export class SimulatedBackups {
  now: number;
  /** How many more writes the operator lives for, and whether the last of them is still done. */
  lifetime = { writes: Number.POSITIVE_INFINITY, isLastDone: true };
  readonly schedules = shelf<ClusterObject>();
  readonly backups = shelf<ClusterObject>();
  readonly pods = shelf<Pod>();
  /** Every backup that was ever made, by name; and each that was said to be complete without a pod that was. */
  readonly made: string[] = [];
  readonly lies: string[] = [];
  /** For which time each pod was started. */
  readonly begunFor: number[] = [];
  /** Secrets that are not there, and kinds that the API server lets nobody create. */
  readonly missing = new Set<string>();
  readonly refused = new Set<string>();
  /** Whether nobody is there to stop pods, and how often somebody was asked to, by uid. */
  isNodeLost = false;
  readonly askedToGo: string[] = [];
  /** Events, by their reasons. */
  readonly told: string[] = [];
  /** When each object is to be looked at again, after the last pass over it. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #signal = new AbortController().signal;
  /** How far the clock of the API server is ahead of the operator's. */
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
    if (object.kind === 'EtcdBackup') this.made.push(object.metadata.name);
    if (object.kind === 'Pod')
      this.begunFor.push(Number(object.metadata.annotations?.[slotAnnotation(this.#dialect.group)]));
  }

  /** Somebody edits the only schedule. */
  edit(spec: object): void {
    for (const schedule of this.schedules.all())
      this.#put(this.schedules, { ...schedule, spec: { ...(schedule.spec as object), ...spec } });
  }

  /** Somebody gives every backup another spec. */
  editBackups(spec: unknown): void {
    for (const backup of this.backups.all()) this.#put(this.backups, { ...backup, spec });
  }

  /** Pods go on by one step, or go for good; those whose owner is gone go with it. */
  work(): void {
    if (this.isNodeLost) return;
    for (const pod of this.pods.all())
      if (pod.metadata.deletionTimestamp === undefined) this.#put(this.pods, { ...pod, status: afterStep(pod) });
      else this.pods.remove(pod);
    for (const backup of this.backups.all()) if (this.#isOrphan(backup)) this.backups.remove(backup);
    for (const pod of this.pods.all()) if (this.#isOrphan(pod)) this.pods.remove(pod);
  }

  /** One pass over everything there is. Throws when the operator is killed. */
  async pass(): Promise<void> {
    const [ofSchedules, ofBackups] = [this.#schedules(), this.#backups()];
    for (const { metadata } of this.schedules.all()) await this.#passOver(keyOf(metadata), ofSchedules);
    const away = this.pods.all().flatMap(byAway(home));
    const keys = new Set([...this.backups.all().map(({ metadata }) => keyOf(metadata)), ...away]);
    for (const key of keys) await this.#passOver(key, ofBackups);
  }

  async #passOver(key: string, reconcile: Reconcile<string>): Promise<void> {
    this.outcomes.set(key, await reconcile(key, this.#signal));
  }

  #isOrphan({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
    const there = new Set([...this.schedules.all(), ...this.backups.all()].map(({ metadata }) => metadata.uid));
    return ownerReferences.some(({ uid }) => !there.has(uid));
  }

  #put<T extends KubeObject>(store: Store<T>, object: T): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    store.put({ ...object, metadata } as Stored<T>);
  }

  #stores(plural: string): Store<never> {
    const stores = { etcdbackupschedules: this.schedules, etcdbackups: this.backups, pods: this.pods };
    return stores[plural as keyof typeof stores] as unknown as Store<never>;
  }

  /** Does a write, unless the operator does not live to see it. */
  #alive(write: () => void): void {
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
        this.#alive(() => this.create(this.#stores(plural), object as never));
      },
      patch: async ({ plural }, at, { body }) => this.#alive(() => this.#patch(this.#stores(plural), keyOf(at), body)),
      remove: async ({ plural }, at) =>
        this.#alive(() =>
          plural === 'pods' ? this.#askToGo(keyOf(at)) : this.#remove(this.#stores(plural), keyOf(at)),
        ),
    };
  }

  #remove(store: Store<never>, key: string): void {
    const object = store.get(key);
    if (object !== undefined) store.remove(object);
  }

  /** A pod stays until its node has stopped it. */
  #askToGo(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    this.askedToGo.push(pod.metadata.uid);
    const time = new Date(this.now + this.skewMillis + 10_000).toISOString();
    const { deletionTimestamp = time } = pod.metadata;
    const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 10 };
    this.#put(this.pods, { ...pod, metadata });
  }

  #patch(store: Store<never>, key: string, body: unknown): void {
    const object = store.get(key) as Stored<ClusterObject> | undefined;
    if (object === undefined) throw new Error(`${key} is gone`);
    const { status } = body as { readonly status: Readonly<Record<string, unknown>> };
    const merged = Object.entries({ ...(object.status as object), ...status }).filter(([, value]) => value !== null);
    if (status['phase'] === 'Completed' && !this.#hasEndedWell(object)) this.lies.push(key);
    this.#put(store, { ...object, status: Object.fromEntries(merged) } as never);
  }

  #hasEndedWell({ metadata: { uid, namespace } }: Stored<ClusterObject>): boolean {
    const places = [namespace, home.namespace];
    return places
      .flatMap((place) => this.pods.by(ownerIndex, place, uid))
      .some(({ status }) => status?.phase === 'Succeeded');
  }

  #shared() {
    return {
      ...{ isOurs: () => true, caughtUp: () => true, log: () => undefined, wayTo: undefined },
      tell: (_: unknown, { reason }: { readonly reason: string }) => void this.told.push(reason),
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
      clusters: undefined as never, // none is named
      client: {
        get: async (_: unknown, { name }: { readonly name: string }) => {
          if (this.missing.has(name)) throw new Failure('not-found', name);
          return { metadata: { name, labels: { 'etcd-operator/backups': 'true' } }, data: {} } as never;
        },
      },
      operators: { namespace: home.namespace, secret: 'store', serviceAccountName: undefined, urls: [] },
      image: { name: 'ours' },
      terminating: this.#terminating,
      caches: { backups: this.backups, agents: this.pods },
    });
  }
}

/** Nobody can be asked at an address that is not there. */
function afterStep({ status }: Pod): NonNullable<Pod['status']> {
  if (status?.phase === 'Succeeded') return status;
  if (status === undefined) return { phase: 'Running', containerStatuses: [container({ running: {} })] };
  const message = JSON.stringify({ ok: true, url: 's3://b/k', revision: '7', size: 9 });
  return { phase: 'Succeeded', containerStatuses: [container({ terminated: { exitCode: 0, message } })] };
}

const container = (state: object) => ({ name: 'save', state, ready: false, restartCount: 0, image: '', imageID: '' });

const alreadyExists = () => new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' });
