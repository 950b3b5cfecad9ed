import { applyPatch, type Operation } from 'rfc6902';
import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import { SettledClusters } from '../../src/controllers/cluster/settled.ts';
import { type ControllerContext, ownerIndex } from '../../src/controllers/shared/context.ts';
import type { Writer } from '../../src/controllers/shared/writer.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { SimulatedMembers } from './simulated-members.ts';
import { Killed, SimulatedObjects, type StoredObject } from './simulated-objects.ts';
import { annotated, imageIn, isReachable, sliceOf, statusOf, versionOf, withoutDigest } from './simulated-pods.ts';
import { StepCounter } from './step-counter.ts';

/** A point at which the operator could be killed, with a copy of the simulation at that point. */
export interface UpgradeMoment {
  readonly title: string;
  readonly life: SimulatedUpgrade;
}

type Spec = Readonly<Record<string, unknown>>;

/** Simulates one cluster with its kubelets and etcd, and an operator that can be killed once the cluster has formed. */
export class SimulatedUpgrade {
  readonly members: SimulatedMembers;
  /** Messages of Events about member versions, in order. */
  readonly versionEvents: string[] = [];
  readonly #objects: SimulatedObjects;
  /** UIDs of the PVCs, or of the pods without PVC, that hold data. */
  readonly #data = new Set<string>();
  readonly #running = new Map<string, string>();
  /** By pod UID: the number of ticks since the image in the spec changed. */
  readonly #changing = new Map<string, number>();
  /** The pods that the client Service leads to. EndpointSlices follow the pods with a delay of one tick. */
  #endpoints: readonly string[] = [];
  #counter = new StepCounter();
  #now = Date.parse('2026-01-01T00:00:00Z');
  #names = 0;
  #actedInThisPass = false;

  private constructor(members = new SimulatedMembers(), objects = new SimulatedObjects()) {
    this.members = members;
    this.#objects = objects;
  }

  /** Creates a cluster and waits until it has settled. */
  static async of(spec: Spec): Promise<SimulatedUpgrade> {
    const life = new SimulatedUpgrade();
    life.#objects.put('etcdclusters', { metadata: { name: 'db', namespace: 'n', uid: 'u', generation: 1 }, spec });
    await life.#untilSettled();
    return life;
  }

  get steps(): number {
    return this.#counter.steps;
  }

  get pods(): readonly StoredObject[] {
    return this.#objects.all('pods');
  }

  get #cluster(): StoredObject {
    const [only] = this.#objects.all('etcdclusters');
    if (only === undefined) throw new Error('the EtcdCluster does not exist');
    return only;
  }

  /** Changes the spec and waits until the cluster has settled. */
  async change(spec: Spec, { diesAfterEachStep = false } = {}): Promise<void> {
    this.#counter = new StepCounter(diesAfterEachStep);
    this.updateSpec(spec);
    await this.#untilSettled();
  }

  /** Changes the spec and returns every point at which the operator could be killed. */
  async changeAndRemember(spec: Spec): Promise<readonly UpgradeMoment[]> {
    const moments: UpgradeMoment[] = [];
    this.#counter = new StepCounter(false, (when) => {
      // Before the next step of a pass the state equals that after the previous step.
      if (when === 'after' || !this.#actedInThisPass)
        moments.push({ title: `killed ${when} step ${this.steps}`, life: this.copy() });
      this.#actedInThisPass = true;
    });
    this.updateSpec(spec);
    await this.#untilSettled();
    return moments;
  }

  /** Continues with a new operator process after the old one was killed within a pass. */
  async resume(): Promise<void> {
    this.nodesAct();
    await this.#untilSettled();
  }

  copy(): SimulatedUpgrade {
    const copy = new SimulatedUpgrade(this.members.copy(), this.#objects.copy());
    for (const uid of this.#data) copy.#data.add(uid);
    for (const [uid, name] of this.#running) copy.#running.set(uid, name);
    for (const [uid, since] of this.#changing) copy.#changing.set(uid, since);
    copy.#endpoints = this.#endpoints;
    copy.#now = this.#now;
    copy.#names = this.#names;
    return copy;
  }

  updateSpec(spec: Spec): void {
    const before = this.#cluster;
    const wanted = { ...(before.spec as unknown as Spec), ...spec };
    this.#objects.put('etcdclusters', { ...before, spec: wanted as never });
  }

  async #untilSettled(): Promise<void> {
    let reconcile = clusterReconciler(this.context());
    for (let pass = 0, calm = 0; pass < 400; pass++) {
      this.#actedInThisPass = false;
      await reconcile('n/db', new AbortController().signal).catch((thrown: unknown) => {
        if (!(thrown instanceof Killed)) throw thrown;
      });
      if (this.#counter.isDead) {
        this.#counter.isDead = false;
        reconcile = clusterReconciler(this.context());
      }
      this.nodesAct();
      calm = this.matchesSpec() ? calm + 1 : 0;
      if (calm > 3) return;
    }
    throw new Error(`the cluster does not settle: ${JSON.stringify(this.#cluster.status)}`);
  }

  matchesSpec(): boolean {
    const { size, version } = this.#cluster.spec as unknown as { size: number; version: string };
    const { currentVersion, conditions = [] } = (this.#cluster.status ?? {}) as {
      currentVersion?: string;
      conditions?: readonly { readonly type: string; readonly reason: string }[];
    };
    const isQuiet = conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'AsDesired');
    const isWhole = this.members.serving === size && this.members.entries.length === size && this.pods.length === size;
    return isQuiet && isWhole && currentVersion === withoutDigest(version);
  }

  nodesAct(): void {
    this.#now += 1_000;
    const pods = this.pods as unknown as readonly Stored<Pod>[];
    const alive = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const [uid, name] of this.#running) if (!alive.has(uid)) this.#stopped(uid, name);
    this.#formCluster(pods);
    for (const pod of pods) this.#run(pod);
    this.#endpoints = this.pods.filter(isReachable).map(({ metadata }) => metadata.name);
    this.members.settle();
    if (this.members.entries.length > 0 && !this.members.hasQuorum)
      this.members.violations.push('the cluster lost quorum');
  }

  /** Records a violation if clients of the Service could still connect to a pod that the operator stops. */
  #confirmLeft(plural: string, name: string): void {
    if (plural === 'pods' && this.#endpoints.includes(name) && this.#endpoints.length > 1)
      this.members.violations.push(`${name} is stopped while the client Service leads to it`);
  }

  #stopped(uid: string, name: string): void {
    this.#running.delete(uid);
    if (!this.pods.some(({ metadata }) => metadata.name === name)) this.members.stop(name);
    if (this.#data.delete(uid) && this.members.named(name) !== undefined)
      this.members.violations.push(`${name} lost its data while it was a member`);
  }

  #formCluster(pods: readonly Stored<Pod>[]): void {
    const bootstrapMembers = pods.filter(({ metadata }) => annotated(metadata, 'initial-cluster-state') === 'new');
    const [first] = bootstrapMembers;
    if (first === undefined || this.members.entries.length > 0) return;
    const list = (annotated(first.metadata, 'initial-cluster') ?? '').split(',');
    if (bootstrapMembers.length < list.length) return;
    const version = withoutDigest(versionOf(first));
    this.members.form(
      list.map((each) => ({ name: each.split('=')[0] ?? '', peerURL: each.split('=')[1] ?? '', version })),
    );
    for (const pod of bootstrapMembers) this.#recordData(pod);
  }

  #run(pod: Stored<Pod>): void {
    const { name, uid } = pod.metadata;
    const image = this.#imageNow(pod);
    this.#running.set(uid, name);
    if (image === undefined) this.members.stop(name);
    else this.#startEtcd(pod, image);
    const status = statusOf(pod, { isUp: this.members.isUp(name), image, now: new Date(this.#now) });
    this.#objects.put('pods', { ...pod, status });
  }

  #startEtcd(pod: Stored<Pod>, image: string): void {
    const { name } = pod.metadata;
    const version = withoutDigest(image);
    const hasData = this.#data.has(this.#volumeOf(pod));
    if (!this.members.isUp(name) && this.members.start({ name, version, hasData })) this.#recordData(pod);
  }

  /** The image that runs in a pod. After an image change: first the old image, then none, then the new one. */
  #imageNow(pod: Stored<Pod>): string | undefined {
    const { uid } = pod.metadata;
    const [wanted, runs = wanted] = [versionOf(pod), imageIn(pod)];
    const since = wanted === runs ? 0 : ((this.#changing.get(uid) ?? 0) + 1) % 4;
    this.#changing.set(uid, since);
    return [wanted, runs][since];
  }

  #recordData(pod: Stored<Pod>): void {
    this.#data.add(this.#volumeOf(pod));
  }

  #volumeOf({ metadata, spec }: Stored<Pod>): string {
    const claim = spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;
    return claim === undefined
      ? metadata.uid
      : (this.#objects.find('persistentvolumeclaims', claim)?.metadata.uid ?? 'gone');
  }

  #writer(): Writer {
    const { writer } = this.#objects;
    const { run } = this.#counter;
    const jsonPatch = (plural: string, name: string, body: object): void => {
      this.#confirmLeft(plural, name);
      const object = structuredClone(this.#objects.find(plural, name));
      const problem = applyPatch(object, body as Operation[]).find((each) => each !== null);
      if (object === undefined || problem) throw new Failure('conflict', `${plural} ${name}: ${String(problem)}`);
      this.#objects.put(plural, object);
    };
    return {
      create: (resource, object) => run(() => writer.create(resource, object)),
      patch: (resource, at, patch) =>
        run(() =>
          patch.type === 'json' ? jsonPatch(resource.plural, at.name, patch.body) : writer.patch(resource, at, patch),
        ),
      remove: ({ plural }, at, { preconditions }) =>
        run(async () => {
          const uid = this.#objects.find(plural, at.name)?.metadata.uid;
          if (uid !== undefined && preconditions.uid !== uid)
            throw new Failure('conflict', `another ${plural} ${at.name}`);
          this.#confirmLeft(plural, at.name);
          await writer.remove({ plural }, at);
        }),
    };
  }

  /** Settled clusters are asked as by the operator. */
  readonly #settled = new SettledClusters({ clock: { random: () => 0 }, clusters: () => 1, rest: () => {} });

  #recordVersionEvent(message: string): void {
    const [, name = '', to = ''] = /^Member (\S+) (?:up|down)graded from \S+ to (\S+)/.exec(message) ?? [];
    if (name === '') return;
    this.versionEvents.push(message.trim());
    if (this.members.runs(name) !== to)
      this.members.violations.push(`Event recorded before the member runs the version: ${message}`);
  }

  context(): ControllerContext {
    const objects = this.#objects;
    const nameIn = (key: string): string => key.split('/')[1] ?? '';
    const cacheOf = (plural: string) => ({
      get: (key: string) => objects.find(plural, nameIn(key)),
      by: (index: string, _: string, uid: string) =>
        index === ownerIndex
          ? objects.all(plural).filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
          : [],
    });
    const to = ({ dial }: Endpoint) => this.members.connectionTo(dial?.host ?? '', this.#counter.run);
    return {
      ...{ dialect: coreos, resource: namespaced(coreos), isOurs: () => true, client: objects.client },
      list: async () => ({ items: [sliceOf(this.#endpoints)] }),
      ...{ etcd: { to, keepOnly: () => {} }, writer: () => this.#writer() },
      ...{ caughtUp: () => true, secondsSinceStatusWrite: () => 10 },
      caches: {
        ...{ clusters: cacheOf('etcdclusters'), pods: cacheOf('pods'), claims: cacheOf('persistentvolumeclaims') },
        ...{ services: cacheOf('services'), budgets: cacheOf('poddisruptionbudgets') },
      },
      ...{ mayWriteSecrets: true, mayDeleteSecrets: true, absentSecrets: new Map(), dialerTo: undefined },
      settled: this.#settled,
      ...{ recordEvent: (_: unknown, { message }: { message: string }) => this.#recordVersionEvent(message) },
      ...{ log: () => undefined, now: () => new Date(this.#now) },
      randomName: (cluster: string) => `${cluster}-${this.#names++}`,
    } as unknown as ControllerContext;
  }
}
