import { deflateRawSync } from 'node:zlib';
import { awayIndex, byAway, byEmployer } from '../../src/controllers/agents/away.ts';
import { TerminatingPods } from '../../src/controllers/agents/terminating-pods.ts';
import { ownerIndex } from '../../src/controllers/cluster/sources.ts';
import { Glances } from '../../src/controllers/restore/glance.ts';
import { restoreReconciler } from '../../src/controllers/restore/reconcile.ts';
import type { RestoreTools } from '../../src/controllers/restore/sources.ts';
import type { ClusterDialect } from '../../src/dialects/dialect.ts';
import type { RestoreDialect } from '../../src/dialects/restore-dialect.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { type Death, type Kept, Killed, SimulatedObjects } from './simulated-objects.ts';

/** A life to be told: an API, what is there at first, and the restore that is asked for. */
export interface Tale {
  readonly clusters: ClusterDialect;
  readonly restores: RestoreDialect;
  readonly objects: Readonly<Record<string, readonly object[]>>;
  readonly restore: Readonly<Record<string, unknown>>;
  /** How many members the cluster is to have, as its status says it. */
  readonly grown: object;
  /** What the seed finds when it reads the backup to its end; without it, that it is whole. */
  readonly damage?: string;
  /** What the manifest beside the backup says of the cluster, to those who ask. */
  readonly saved?: object;
  /** What the operator was given for stores. */
  readonly operators?: Partial<RestoreTools['operators']>;
  /** What happens between two passes besides. */
  readonly mishap?: (objects: SimulatedObjects) => void;
}

interface Volume {
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly secret?: { readonly secretName: string; readonly optional?: boolean };
}

const clusterId = 0xbbbn;
const usualStore = { namespace: 'home', secret: undefined, serviceAccountName: 'reader', urls: ['s3://backups/'] };
const courierRuns = { containerStatuses: [{ name: 'carry', state: { running: {} } }] };

const wellWith = (more: object): object => ({
  ...{ exitCode: 0, message: JSON.stringify({ ok: true, version: '3.6.16', size: 1, ...more }) },
});
const well = wellWith({});
const killed = { exitCode: 137, reason: 'Error' };
const failed = (message: string): object => ({
  ...{ exitCode: 1, reason: 'Error' },
  message: JSON.stringify({ ok: false, trouble: 'damaged', mayPass: false, message }),
});
const ended = (name: string, terminated: object): object => ({ name, restartCount: 0, state: { terminated } });

/** A moment at which the operator could have been killed, and all there was at that moment. */
export interface Moment {
  readonly title: string;
  readonly life: SimulatedRestore;
}

/** One restore, with everybody who has a part in it: the operator of clusters, nodes, and etcd. */
export class SimulatedRestore {
  readonly objects: SimulatedObjects;
  /** What must never be. */
  readonly violations: string[] = [];
  /** Events, by their reasons. */
  readonly told: string[] = [];
  /** How many pods that look at the backup are yet to be killed before they are done. */
  deaths = 0;
  readonly #tale: Tale;
  readonly #membersAtFirst: number;
  readonly #volumesAtFirst: readonly string[];
  #wroteInThisPass = false;
  #passes = 0;

  constructor(tale: Tale, death?: Death, copied?: SimulatedObjects) {
    this.#tale = tale;
    const atFirst = new SimulatedObjects(death);
    for (const [plural, those] of Object.entries(tale.objects)) for (const object of those) atFirst.put(plural, object);
    atFirst.put('etcdrestores', tale.restore);
    this.#volumesAtFirst = atFirst.all('persistentvolumeclaims').map(({ metadata }) => metadata.name);
    this.#membersAtFirst = atFirst.all('pods').length;
    this.objects = copied ?? atFirst;
    this.#keepVolumeOfBackups();
  }

  /** The volume of the backups is there, and is no part of any cluster: lists that are compared do not have it. */
  #keepVolumeOfBackups(): void {
    const { client } = this.objects;
    const get = client.get.bind(client);
    client.get = (kind, at) =>
      kind.plural === 'persistentvolumeclaims' && at.name === 'backups'
        ? Promise.resolve({ metadata: { name: 'backups', namespace: 'n', uid: 'b' } } as never)
        : get(kind, at);
  }

  get restore(): Kept {
    const [only] = this.objects.all('etcdrestores');
    if (only === undefined) throw new Error('the restore is gone');
    return only;
  }

  /** Lets everybody act in turn until nothing is left to do for the restore. */
  async run(): Promise<void> {
    const reconcile = restoreReconciler(this.#tools());
    for (let pass = 0; pass < 200; pass++) {
      this.#wroteInThisPass = false;
      const outcome = await reconcile('n/r', new AbortController().signal).catch((thrown: unknown) => {
        if (thrown instanceof Killed) return { is: 'killed' as const };
        if (thrown instanceof Failure && thrown.kind === 'conflict') return { is: 'failed' as const }; // and tried again
        throw thrown;
      });
      this.#passes++;
      this.#timePasses();
      if (outcome.is === 'done') return;
    }
    throw new Error(`it does not end: ${JSON.stringify(this.restore.status)}`);
  }

  /** Runs to the end, and returns every moment at which the operator could have been killed. */
  async runAndRemember(): Promise<readonly Moment[]> {
    const moments: Moment[] = [];
    this.objects.onWrite = (when) => {
      // Right before the next write of a pass, all is as it was right after the last one.
      if (when === 'after' || !this.#wroteInThisPass)
        moments.push({ title: `killed ${when} write ${this.objects.writes}`, life: this.#copy() });
      this.#wroteInThisPass = true;
    };
    await this.run();
    return moments;
  }

  /** Goes on after the operator was killed in the middle of a pass: another one starts. */
  async goOn(): Promise<void> {
    this.#timePasses();
    await this.run();
  }

  #copy(): SimulatedRestore {
    const copy = new SimulatedRestore(this.#tale, undefined, this.objects.copy());
    copy.violations.push(...this.violations);
    copy.told.push(...this.told);
    copy.deaths = this.deaths;
    return copy;
  }

  #timePasses(): void {
    this.#othersAct();
    this.#tale.mishap?.(this.objects);
    this.#watch();
  }

  #othersAct(): void {
    for (const cluster of this.objects.all('etcdclusters')) this.#operatorLooksAfter(cluster);
    for (const pod of this.objects.all('pods')) this.#nodeRuns(pod);
  }

  /** The operator of clusters, as far as it matters here. */
  #operatorLooksAfter(cluster: Kept): void {
    const { holdAnnotation } = this.#tale.restores;
    const heldBy = cluster.metadata.annotations?.[holdAnnotation];
    const { heldBy: before, ...status } = (cluster.status ?? {}) as Record<string, unknown>;
    const remembers = status['clusterId'] !== undefined;
    if (heldBy === undefined && !remembers) this.violations.push('a cluster was left to be founded anew');
    const settled = {
      ...this.#tale.grown,
      conditions: [{ type: 'Progressing', status: 'False', reason: 'AsDesired' }],
    };
    const next = heldBy === undefined ? { ...status, ...settled } : { ...status, heldBy };
    if (heldBy !== before || heldBy === undefined) this.objects.put('etcdclusters', { ...cluster, status: next });
  }

  #nodeRuns(pod: Kept): void {
    if (pod.status !== undefined || !this.#canMount(pod)) return;
    this.objects.put('pods', { ...pod, status: this.#statusOf(pod) });
  }

  #statusOf(pod: Kept): object {
    const { name } = pod.metadata;
    if (name.includes('-look-')) return this.#looked(pod);
    return name.includes('-courier-') ? { phase: 'Running', podIP: '10.0.0.1', ...courierRuns } : this.#seeded();
  }

  #looked(pod: Kept): object {
    if (this.deaths-- > 0) return { phase: 'Failed', containerStatuses: [ended('look', killed)] };
    return { phase: 'Succeeded', containerStatuses: [ended('look', wellWith(this.#toldTo(pod)))] };
  }

  #toldTo(pod: Kept): object {
    const { saved } = this.#tale;
    if (saved === undefined || !JSON.stringify(pod).includes('"--tell-cluster"')) return {};
    return { cluster: deflateRawSync(JSON.stringify(saved)).toString('base64') };
  }

  #seeded(): object {
    const { damage } = this.#tale;
    if (damage !== undefined)
      return { phase: 'Pending', initContainerStatuses: [ended('fetch-backup', failed(damage))] };
    const initContainerStatuses = [ended('fetch-backup', well)];
    const containerStatuses = [{ name: 'etcd', state: { running: {} } }];
    return { phase: 'Running', podIP: '10.0.0.1', initContainerStatuses, containerStatuses };
  }

  /** A pod waits for the Secrets that it mounts. */
  #canMount({ spec, metadata: { name: own } }: Kept): boolean {
    const { volumes = [] } = (spec ?? {}) as { readonly volumes?: readonly Volume[] };
    const needed = volumes.flatMap(({ secret }) =>
      secret === undefined || secret.optional ? [] : [secret.secretName],
    );
    const hasOwn = volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === own);
    const disk = this.objects.find('persistentvolumeclaims', own);
    if (hasOwn && (disk === undefined || disk.metadata.deletionTimestamp !== undefined)) return false;
    return needed.every((name) => this.objects.find('secrets', name) !== undefined);
  }

  #watch(): void {
    const { phase, stage = phase } = (this.restore.status ?? {}) as { phase?: string; stage?: string };
    const isEarly = [undefined, 'Proving', 'Seeding'].includes(stage);
    if (isEarly && this.#oldMembers().length < this.#membersAtFirst)
      this.violations.push('a member was stopped too early');
    const isLost = (name: string): boolean => this.objects.find('persistentvolumeclaims', name) === undefined;
    if (!['Complete', 'Failed'].includes(stage ?? '') && this.#volumesAtFirst.some(isLost))
      this.violations.push('data was thrown away too early');
    this.#watchReaders();
  }

  #watchReaders(): void {
    const readers = this.objects.all('pods').filter((pod) => JSON.stringify(pod).includes('"--courier"'));
    if (readers.length > 0 && this.objects.all('secrets').length === 0)
      this.violations.push('somebody was to read before there was a courier');
  }

  #oldMembers(): readonly Kept[] {
    const isOld = ({ metadata: { ownerReferences = [] } }: Kept): boolean =>
      ownerReferences.some(({ uid }) => uid === 'c');
    return this.objects.all('pods').filter(isOld);
  }

  #tools(): RestoreTools {
    const { objects } = this;
    const { clusters, restores } = this.#tale;
    const operators = { ...usualStore, ...this.#tale.operators };
    const home = { group: restores.group, namespace: operators.namespace };
    const indexes: Readonly<Record<string, (pod: Kept) => readonly string[]>> = {
      [ownerIndex]: byEmployer(home),
      [awayIndex]: byAway(home),
    };
    const agentsOf = (index: string, namespace: string, key: string) =>
      objects.all('pods').filter((pod) => pod.metadata.namespace === namespace && indexes[index]?.(pod).includes(key));
    const etcd = { to: () => ({ status: async () => ({ clusterId, memberId: 1n, leader: 1n }) }), keepOnly: () => {} };
    return {
      ...{ dialect: restores, resource: namespaced(restores), rivals: [], keepsSecrets: true, wayTo: undefined },
      clusters: { dialect: clusters, resource: namespaced(clusters) },
      client: objects.client,
      writer: () => objects.writer,
      glances: new Glances({ monotonic: () => this.#passes * 500 }),
      terminating: new TerminatingPods({ monotonic: () => this.#passes * 500 }),
      caches: { restores: { get: () => objects.all('etcdrestores')[0] }, agents: { by: agentsOf } },
      image: { name: 'etcd-operator' },
      operators,
      ...{ etcd, caughtUp: () => true, isOurs: () => true, now: () => new Date('2026-01-01T00:00:10Z') },
      tell: (_: unknown, { reason }: { readonly reason: string }) => void this.told.push(reason),
      ...{ log: () => undefined, randomName: (of: string) => `${of}-seed` },
    } as unknown as RestoreTools;
  }
}
