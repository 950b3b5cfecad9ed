import type { ClusterDialect } from '../../src/apis/common/dialect.ts';
import type { RestoreDialect } from '../../src/apis/common/restore-dialect.ts';
import { AwaitedObjects } from '../../src/controllers/restore/awaited-objects.ts';
import type { RestoreContext } from '../../src/controllers/restore/context.ts';
import { restoreReconciler } from '../../src/controllers/restore/reconcile.ts';
import { agentNamespaceIndex, byResourceKey, byResourceUid } from '../../src/controllers/shared/agent-namespace.ts';
import { ownerIndex } from '../../src/controllers/shared/context.ts';
import { TerminatingPods } from '../../src/controllers/shared/terminating-pods.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { SimulatedKubelet } from './simulated-kubelet.ts';
import { Killed, type KillPoint, SimulatedObjects, type StoredObject } from './simulated-objects.ts';
import { WatchedSteps } from './watched-steps.ts';

/** The input of a simulation: the API, the initial objects and the EtcdRestore. */
export interface Scenario {
  readonly clusters: ClusterDialect;
  readonly restores: RestoreDialect;
  readonly objects: Readonly<Record<string, readonly object[]>>;
  readonly restore: Readonly<Record<string, unknown>>;
  /** The cluster status once all members are ready. */
  readonly grown: object;
  /** The damage that the seed finds in the backup; unset for an intact backup. */
  readonly damage?: string;
  /** The cluster in the backup's manifest, reported by agents with --report-cluster. */
  readonly saved?: object;
  /** The operator's own store settings. */
  readonly operators?: Partial<RestoreContext['operators']>;
  /** A disturbance that runs between two passes. */
  readonly mishap?: (objects: SimulatedObjects) => void;
}

const clusterId = 0xbbbn;
const usualStore = { namespace: 'home', secret: undefined, serviceAccountName: 'reader', urls: ['s3://backups/'] };
/** A point at which the operator could be killed, with a copy of the simulation at that point. */
export interface RestoreMoment {
  readonly title: string;
  readonly life: SimulatedRestore;
}

/** Simulates one EtcdRestore together with the cluster operator, the kubelets and etcd. */
export class SimulatedRestore {
  readonly objects: SimulatedObjects;
  /** Violated invariants; must stay empty. */
  readonly violations: string[] = [];
  /** Reasons of all recorded Events. */
  readonly eventReasons: string[] = [];
  readonly steps = new WatchedSteps(this.violations);
  readonly kubelet: SimulatedKubelet;
  readonly #scenario: Scenario;
  readonly #initialMembers: number;
  readonly #initialVolumes: readonly string[];
  #wroteInThisPass = false;
  #passes = 0;

  constructor(scenario: Scenario, killPoint?: KillPoint, copied?: SimulatedObjects) {
    this.#scenario = scenario;
    const initial = new SimulatedObjects(killPoint);
    for (const [plural, those] of Object.entries(scenario.objects))
      for (const object of those) initial.put(plural, object);
    initial.put('etcdrestores', scenario.restore);
    this.#initialVolumes = initial.all('persistentvolumeclaims').map(({ metadata }) => metadata.name);
    this.#initialMembers = initial.all('pods').length;
    this.objects = copied ?? initial;
    this.kubelet = new SimulatedKubelet(this.objects, scenario);
    this.#serveBackupPvc();
  }

  /** Serves the PVC of the backups on `get` only, so that lists contain nothing but PVCs of clusters. */
  #serveBackupPvc(): void {
    const { client } = this.objects;
    const get = client.get.bind(client);
    client.get = (kind, at) =>
      kind.plural === 'persistentvolumeclaims' && at.name === 'backups'
        ? Promise.resolve({ metadata: { name: 'backups', namespace: 'n', uid: 'b' } } as never)
        : get(kind, at);
  }

  get restore(): StoredObject {
    const [only] = this.objects.all('etcdrestores');
    if (only === undefined) throw new Error('the EtcdRestore does not exist');
    return only;
  }

  /** Runs passes and the other components in turn until the restore is done. */
  async run(): Promise<void> {
    const reconcile = restoreReconciler(this.#context());
    for (let pass = 0; pass < 200; pass++) {
      this.#wroteInThisPass = false;
      this.steps.endPass();
      const outcome = await reconcile('n/r', new AbortController().signal).catch((thrown: unknown) => {
        if (thrown instanceof Killed) return { is: 'killed' as const };
        if (thrown instanceof Failure && thrown.kind === 'conflict') return { is: 'failed' as const }; // retried in the next pass
        throw thrown;
      });
      this.#passes++;
      this.#advance();
      if (outcome.is === 'done') return;
    }
    throw new Error(`the restore does not finish: ${JSON.stringify(this.restore.status)}`);
  }

  /** Runs to the end and returns every point at which the operator could be killed. */
  async runAndRemember(): Promise<readonly RestoreMoment[]> {
    const moments: RestoreMoment[] = [];
    this.objects.onWrite = (when) => {
      // Before the next write of a pass the state equals that after the previous write.
      if (when === 'after' || !this.#wroteInThisPass)
        moments.push({ title: `killed ${when} write ${this.objects.writes}`, life: this.#copy() });
      this.#wroteInThisPass = true;
    };
    await this.run();
    return moments;
  }

  /** Continues with a new operator process after the old one was killed within a pass. */
  async resume(): Promise<void> {
    this.#advance();
    await this.run();
  }

  #copy(): SimulatedRestore {
    const copy = new SimulatedRestore(this.#scenario, undefined, this.objects.copy());
    copy.violations.push(...this.violations);
    copy.eventReasons.push(...this.eventReasons);
    copy.kubelet.inspectionsToKill = this.kubelet.inspectionsToKill;
    return copy;
  }

  #advance(): void {
    this.#simulateOthers();
    this.#scenario.mishap?.(this.objects);
    this.#checkInvariants();
  }

  #simulateOthers(): void {
    for (const cluster of this.objects.all('etcdclusters')) this.#simulateClusterOperator(cluster);
    for (const pod of this.objects.all('pods')) this.kubelet.run(pod);
  }

  /** Simulates the cluster operator: acknowledges the hold annotation, and reports a settled cluster without it. */
  #simulateClusterOperator(cluster: StoredObject): void {
    const { holdAnnotation } = this.#scenario.restores;
    const heldBy = cluster.metadata.annotations?.[holdAnnotation];
    const { heldBy: before, ...status } = (cluster.status ?? {}) as Record<string, unknown>;
    const remembers = status['clusterId'] !== undefined;
    if (heldBy === undefined && !remembers)
      this.violations.push('the cluster operator was free to bootstrap an empty cluster');
    const settled = {
      ...this.#scenario.grown,
      conditions: [{ type: 'Progressing', status: 'False', reason: 'AsDesired' }],
    };
    const next = heldBy === undefined ? { ...status, ...settled } : { ...status, heldBy };
    if (heldBy !== before || heldBy === undefined) this.objects.put('etcdclusters', { ...cluster, status: next });
  }

  #checkInvariants(): void {
    const { phase, stage = phase } = (this.restore.status ?? {}) as { phase?: string; stage?: string };
    const isEarly = [undefined, 'Proving', 'Seeding'].includes(stage);
    if (isEarly && this.#oldMembers().length < this.#initialMembers)
      this.violations.push('a member was stopped too early');
    const isLost = (name: string): boolean => this.objects.find('persistentvolumeclaims', name) === undefined;
    if (!['Complete', 'Failed'].includes(stage ?? '') && this.#initialVolumes.some(isLost))
      this.violations.push('a volume was deleted too early');
    this.#checkReaders();
  }

  #checkReaders(): void {
    const readers = this.objects.all('pods').filter((pod) => JSON.stringify(pod).includes('"--store-proxy"'));
    if (readers.length > 0 && this.objects.all('secrets').length === 0)
      this.violations.push('an agent pod was created before its store proxy');
  }

  #oldMembers(): readonly StoredObject[] {
    const isOld = ({ metadata: { ownerReferences = [] } }: StoredObject): boolean =>
      ownerReferences.some(({ uid }) => uid === 'c');
    return this.objects.all('pods').filter(isOld);
  }

  #context(): RestoreContext {
    const { objects } = this;
    const { clusters, restores } = this.#scenario;
    const operators = { ...usualStore, ...this.#scenario.operators };
    const home = { group: restores.group, namespace: operators.namespace };
    const indexes: Readonly<Record<string, (pod: StoredObject) => readonly string[]>> = {
      [ownerIndex]: byResourceUid(home),
      [agentNamespaceIndex]: byResourceKey(home),
    };
    const agentsOf = (index: string, namespace: string, key: string) =>
      objects.all('pods').filter((pod) => pod.metadata.namespace === namespace && indexes[index]?.(pod).includes(key));
    const etcd = { to: () => ({ status: async () => ({ clusterId, memberId: 1n, leader: 1n }) }), keepOnly: () => {} };
    return {
      ...{
        dialect: restores,
        resource: namespaced(restores),
        otherClusterKinds: [],
        mayWriteSecrets: true,
        dialerTo: undefined,
      },
      clusters: { dialect: clusters, resource: namespaced(clusters) },
      client: objects.client,
      writer: () => this.steps.watched(objects.writer),
      awaitedObjects: new AwaitedObjects({ monotonic: () => this.#passes * 500 }),
      terminating: new TerminatingPods({ monotonic: () => this.#passes * 500 }),
      caches: { restores: { get: () => objects.all('etcdrestores')[0] }, agents: { by: agentsOf } },
      image: { name: 'etcd-operator' },
      operators,
      ...{ etcd, caughtUp: () => true, isOurs: () => true, now: () => new Date('2026-01-01T00:00:10Z') },
      recordEvent: (_: unknown, { reason }: { readonly reason: string }) => void this.eventReasons.push(reason),
      ...{ log: this.steps.log, randomName: (of: string) => `${of}-seed` },
    } as unknown as RestoreContext;
  }
}
