import { applyPatch, type Operation } from 'rfc6902';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import { ownerIndex, type Tools } from '../../src/controllers/cluster/sources.ts';
import type { Writer } from '../../src/controllers/cluster/writer.ts';
import { coreos } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { SimulatedMembers } from './simulated-members.ts';
import { type Kept, Killed, SimulatedObjects } from './simulated-objects.ts';
import { annotated, imageIn, statusOf, versionOf, withoutDigest } from './simulated-pods.ts';

/** Counts what the operator does, to the API server and to etcd. */
class Mortality {
  deeds = 0;
  isDead = false;
  /** Whether the operator dies after each of its deeds. */
  readonly #isShort: boolean;
  /** Called right before and right after each deed. */
  readonly #onDeed: (when: 'before' | 'after') => void;

  constructor(isShort = false, onDeed: (when: 'before' | 'after') => void = () => undefined) {
    this.#isShort = isShort;
    this.#onDeed = onDeed;
  }

  readonly does = async (deed: () => unknown): Promise<void> => {
    if (this.isDead) throw new Killed('long ago');
    this.deeds++;
    this.#onDeed('before');
    await deed();
    this.#onDeed('after');
    if (this.#isShort) this.#die();
  };

  #die(): never {
    this.isDead = true;
    throw new Killed('at a deed');
  }
}

/** A moment at which the operator could have been killed, and all there was at that moment. */
export interface Moment {
  readonly title: string;
  readonly life: SimulatedUpgrade;
}

type Spec = Readonly<Record<string, unknown>>;

/** One cluster from its beginning on, its nodes, its etcd, and an operator that may be killed once it is there. */
export class SimulatedUpgrade {
  readonly members: SimulatedMembers;
  /** Events about versions of members, in their order. */
  readonly told: string[] = [];
  readonly #objects: SimulatedObjects;
  /** What is on disks, under the uid of whatever keeps it: a claim, or a pod. */
  readonly #data = new Set<string>();
  readonly #running = new Map<string, string>();
  /** For how long nodes have been about to run another image in a pod. */
  readonly #changing = new Map<string, number>();
  #mortality = new Mortality();
  #now = Date.parse('2026-01-01T00:00:00Z');
  #names = 0;
  #actedInThisPass = false;

  private constructor(members = new SimulatedMembers(), objects = new SimulatedObjects()) {
    this.members = members;
    this.#objects = objects;
  }

  /** Founds a cluster, and waits until it is there. */
  static async of(spec: Spec): Promise<SimulatedUpgrade> {
    const life = new SimulatedUpgrade();
    life.#objects.put('etcdclusters', { metadata: { name: 'db', namespace: 'n', uid: 'u', generation: 1 }, spec });
    await life.#untilAsWanted();
    return life;
  }

  get deeds(): number {
    return this.#mortality.deeds;
  }

  get pods(): readonly Kept[] {
    return this.#objects.all('pods');
  }

  get #cluster(): Kept {
    const [only] = this.#objects.all('etcdclusters');
    if (only === undefined) throw new Error('the cluster is gone');
    return only;
  }

  /** Changes the spec. `isShort`: an operator dies after each of its steps. */
  async change(spec: Spec, { isShort = false } = {}): Promise<void> {
    this.#mortality = new Mortality(isShort);
    this.want(spec);
    await this.#untilAsWanted();
  }

  /** Changes the spec; returns every moment at which the operator could have been killed. */
  async changeAndRemember(spec: Spec): Promise<readonly Moment[]> {
    const moments: Moment[] = [];
    this.#mortality = new Mortality(false, (when) => {
      // Right before the next deed of a pass, all is as it was right after the last one.
      if (when === 'after' || !this.#actedInThisPass)
        moments.push({ title: `killed ${when} deed ${this.deeds}`, life: this.copy() });
      this.#actedInThisPass = true;
    });
    this.want(spec);
    await this.#untilAsWanted();
    return moments;
  }

  /** Goes on after the operator was killed in the middle of a pass: another one starts. */
  async goOn(): Promise<void> {
    this.nodesAct();
    await this.#untilAsWanted();
  }

  copy(): SimulatedUpgrade {
    const copy = new SimulatedUpgrade(this.members.copy(), this.#objects.copy());
    for (const uid of this.#data) copy.#data.add(uid);
    for (const [uid, name] of this.#running) copy.#running.set(uid, name);
    for (const [uid, since] of this.#changing) copy.#changing.set(uid, since);
    copy.#now = this.#now;
    copy.#names = this.#names;
    return copy;
  }

  want(spec: Spec): void {
    const before = this.#cluster;
    const wanted = { ...(before.spec as unknown as Spec), ...spec };
    this.#objects.put('etcdclusters', { ...before, spec: wanted as never });
  }

  async #untilAsWanted(): Promise<void> {
    let reconcile = clusterReconciler(this.tools());
    for (let pass = 0, calm = 0; pass < 400; pass++) {
      this.#actedInThisPass = false;
      await reconcile('n/db', new AbortController().signal).catch((thrown: unknown) => {
        if (!(thrown instanceof Killed)) throw thrown;
      });
      if (this.#mortality.isDead) {
        this.#mortality.isDead = false;
        reconcile = clusterReconciler(this.tools());
      }
      this.nodesAct();
      calm = this.isAsWanted() ? calm + 1 : 0;
      if (calm > 3) return;
    }
    throw new Error(`it does not end: ${JSON.stringify(this.#cluster.status)}`);
  }

  isAsWanted(): boolean {
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
    const there = this.pods as unknown as readonly Stored<Pod>[];
    const alive = new Set(there.map(({ metadata }) => metadata.uid));
    for (const [uid, name] of this.#running) if (!alive.has(uid)) this.#ended(uid, name);
    this.#found(there);
    for (const pod of there) this.#run(pod);
    this.members.settle();
    if (this.members.entries.length > 0 && !this.members.hasMajority)
      this.members.violations.push('there was no majority');
  }

  #ended(uid: string, name: string): void {
    this.#running.delete(uid);
    if (!this.pods.some(({ metadata }) => metadata.name === name)) this.members.stop(name);
    if (this.#data.delete(uid) && this.members.named(name) !== undefined)
      this.members.violations.push(`${name} lost its data while it was a member`);
  }

  #found(pods: readonly Stored<Pod>[]): void {
    const founders = pods.filter(({ metadata }) => annotated(metadata, 'initial-cluster-state') === 'new');
    const [first] = founders;
    if (first === undefined || this.members.entries.length > 0) return;
    const list = (annotated(first.metadata, 'initial-cluster') ?? '').split(',');
    if (founders.length < list.length) return;
    const version = withoutDigest(versionOf(first));
    this.members.form(
      list.map((each) => ({ name: each.split('=')[0] ?? '', peerURL: each.split('=')[1] ?? '', version })),
    );
    for (const pod of founders) this.#keepsData(pod);
  }

  #run(pod: Stored<Pod>): void {
    const { name, uid } = pod.metadata;
    const image = this.#imageNow(pod);
    this.#running.set(uid, name);
    if (image === undefined) this.members.stop(name);
    else this.#keepUp(pod, image);
    const status = statusOf(pod, { isUp: this.members.isUp(name), image, now: new Date(this.#now) });
    this.#objects.put('pods', { ...pod, status });
  }

  #keepUp(pod: Stored<Pod>, image: string): void {
    const { name } = pod.metadata;
    const version = withoutDigest(image);
    const hasData = this.#data.has(this.#diskOf(pod));
    if (!this.members.isUp(name) && this.members.start({ name, version, hasData })) this.#keepsData(pod);
  }

  /** What runs in a pod: when another image is asked for, the old one for a while, then nothing, then the new one. */
  #imageNow(pod: Stored<Pod>): string | undefined {
    const { uid } = pod.metadata;
    const [asked, runs = asked] = [versionOf(pod), imageIn(pod)];
    const since = asked === runs ? 0 : ((this.#changing.get(uid) ?? 0) + 1) % 4;
    this.#changing.set(uid, since);
    return [asked, runs][since];
  }

  #keepsData(pod: Stored<Pod>): void {
    this.#data.add(this.#diskOf(pod));
  }

  #diskOf({ metadata, spec }: Stored<Pod>): string {
    const claim = spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;
    return claim === undefined
      ? metadata.uid
      : (this.#objects.find('persistentvolumeclaims', claim)?.metadata.uid ?? 'gone');
  }

  #writer(): Writer {
    const { writer } = this.#objects;
    const { does } = this.#mortality;
    const jsonPatch = (plural: string, name: string, body: object): void => {
      const object = structuredClone(this.#objects.find(plural, name));
      const problem = applyPatch(object, body as Operation[]).find((each) => each !== null);
      if (object === undefined || problem) throw new Failure('conflict', `${plural} ${name}: ${String(problem)}`);
      this.#objects.put(plural, object);
    };
    return {
      create: (resource, object) => does(() => writer.create(resource, object)),
      patch: (resource, at, patch) =>
        does(() =>
          patch.type === 'json' ? jsonPatch(resource.plural, at.name, patch.body) : writer.patch(resource, at, patch),
        ),
      remove: ({ plural }, at, { preconditions }) =>
        does(async () => {
          const uid = this.#objects.find(plural, at.name)?.metadata.uid;
          if (uid !== undefined && preconditions.uid !== uid)
            throw new Failure('conflict', `another ${plural} ${at.name}`);
          await writer.remove({ plural }, at);
        }),
    };
  }

  #hear(message: string): void {
    const [, name = '', to = ''] = /^Member (\S+) (?:up|down)graded from \S+ to (\S+)/.exec(message) ?? [];
    if (name === '') return;
    this.told.push(message.trim());
    if (this.members.runs(name) !== to) this.members.violations.push(`told before it runs: ${message}`);
  }

  tools(): Tools {
    const objects = this.#objects;
    const nameIn = (key: string): string => key.split('/')[1] ?? '';
    const cacheOf = (plural: string) => ({
      get: (key: string) => objects.find(plural, nameIn(key)),
      by: (index: string, _: string, uid: string) =>
        index === ownerIndex
          ? objects.all(plural).filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
          : [],
    });
    const to = ({ dial }: Endpoint) => this.members.connectionTo(dial?.host ?? '', this.#mortality.does);
    return {
      ...{ dialect: coreos, resource: namespaced(coreos), isOurs: () => true, client: objects.client },
      ...{ etcd: { to, keepOnly: () => {} }, writer: () => this.#writer(), caughtUp: () => true, toldAgo: () => 10 },
      caches: {
        ...{ clusters: cacheOf('etcdclusters'), pods: cacheOf('pods'), claims: cacheOf('persistentvolumeclaims') },
        ...{ services: cacheOf('services'), budgets: cacheOf('poddisruptionbudgets') },
      },
      ...{ keepsSecrets: true, dropsSecrets: true, tidied: new Map(), wayTo: undefined },
      ...{ tell: (_: unknown, { message }: { message: string }) => this.#hear(message) },
      ...{ log: () => undefined, now: () => new Date(this.#now) },
      randomName: (cluster: string) => `${cluster}-${this.#names++}`,
    } as unknown as Tools;
  }
}
