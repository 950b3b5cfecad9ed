import { hasHistory } from '../../src/core/model/cluster.ts';
import { type DiskMark, type FoundDisk, recalled } from '../../src/core/model/kept-disks.ts';
import { freeOrdinals } from '../../src/core/model/ordinals.ts';
import { hasQuorum, quorumOf } from '../../src/core/quorum.ts';
import { healthy, nameOf, peerURLOf } from '../support/worlds.ts';
import { bareDisk, carrierOf } from './simulated-carriers.ts';
import { SimulatedKeptVolumes } from './simulated-kept-volumes.ts';
import type {
  Carrier,
  CarrierName,
  ClusterWorld,
  Entry,
  Join,
  Member,
  MemberId,
  MemberNames,
  Memory,
  Pod,
  Settings,
  Step,
} from './words.ts';

/**
 * A Kubernetes and an etcd small enough to live a whole life in a millisecond. It obeys etcd's own rules: a member serves
 * only with its data, a membership change needs a majority, a learner has no vote.
 */
export class SimulatedCluster {
  memory: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
  size: number;
  readonly pods = new Map<CarrierName, Pod>();
  readonly disks = new Map<CarrierName, string | undefined>();
  readonly kept = new SimulatedKeptVolumes();
  /** What stands on disks about their cluster. */
  private readonly marks = new Map<CarrierName, DiskMark>();
  entries: Entry[] = [];
  clusters = 0;
  private readonly durable: boolean;
  /** What the spec says. */
  version: string;
  template = 'first';
  private readonly memberNames: MemberNames;
  private names = 0;
  private leader: CarrierName | undefined;

  constructor(settings: Settings) {
    this.size = settings.size;
    this.durable = settings.durable;
    this.version = settings.version;
    this.memberNames = settings.memberNames ?? 'random';
  }

  /** What one pass sees. */
  world(): ClusterWorld {
    const base = healthy(1);
    const members = this.members();
    const seen = this.entries.length > 0 && hasQuorum(members);
    const memory = recalled(this.memory, this.foundDisks());
    const isNew = !hasHistory(memory) && this.pods.size === 0;
    return {
      ...base,
      intent: {
        ...base.intent,
        size: this.size,
        version: this.version,
        memberNames: this.memberNames,
        keepVolumesSeconds: this.kept.graceSeconds,
      },
      ...{ now: this.kept.now, keptVolumes: this.kept.seen() },
      memory,
      carriers: isNew ? [] : this.carriers(),
      leftDisks: isNew ? [...this.disks.keys()] : [],
      membership: seen ? { seen, value: { clusterId: 'c1', members } } : this.unseen(members),
      secretProblems: [],
      spareNames: this.spareNames(),
    };
  }

  private spareNames(): readonly CarrierName[] {
    if (this.memberNames === 'random') return Array.from({ length: 9 }, (_, i) => nameOf(`db-${this.names + i}`));
    const taken = [...this.pods.keys(), ...this.disks.keys(), ...this.entries.map(({ name }) => name)];
    return freeOrdinals('db', new Set(taken), 9);
  }

  /** A member that serves tells its list even without a majority. */
  private unseen(members: readonly Member[]): ClusterWorld['membership'] {
    const heard = this.entries.some((entry) => this.serves(entry));
    return { seen: false, why: 'nobody answers', ...(heard ? { rumour: { clusterId: 'c1', members } } : {}) };
  }

  members(): readonly Member[] {
    const mayLead = this.entries.filter((entry) => entry.role === 'voter' && this.serves(entry));
    const leader = mayLead.find(({ name }) => name === this.leader) ?? mayLead[0];
    return this.entries.map((entry) => ({
      id: entry.id,
      name: entry.name,
      peerURLs: [peerURLOf(entry.name)],
      role: entry.role,
      health: entry.started ? (this.serves(entry) ? 'healthy' : 'silent') : 'never-started',
      hasNeverServed: !entry.started,
      silence: { millis: 3_600_000, looks: 300 },
      leads: entry === leader,
      version: this.pods.get(entry.name)?.version,
      raftIndex: 100n,
      storageVersion: undefined,
      downgradeTarget: undefined,
    }));
  }

  private serves({ name, started }: Entry): boolean {
    const pod = this.pods.get(name);
    return started && pod?.up === true && this.dataOf(pod) === 'c1';
  }

  private dataOf(pod: Pod): string | undefined {
    return this.durable ? this.disks.get(pod.name) : pod.data;
  }

  private carriers(): readonly Carrier[] {
    const withPods = [...this.pods.values()].map((pod) => this.carrierOf(pod));
    const bare = [...this.disks.keys()].filter((name) => !this.pods.has(name));
    return [...withPods, ...(this.durable ? bare.map(bareDisk) : [])];
  }

  private carrierOf(pod: Pod): Carrier {
    const disk = this.durable ? (this.disks.has(pod.name) ? 'own' : 'lost') : 'with-pod';
    return carrierOf(pod, { disk, data: this.dataOf(pod), template: this.template });
  }

  /** Does what the operator asks for. */
  perform(step: Step): void {
    switch (step.kind) {
      case 'remember-bootstrap':
        this.memory = { ...this.memory, bootstrap: step.bootstrap };
        return this.takeNames();
      case 'remember-formation':
        return void (this.memory = { ...this.memory, clusterId: step.clusterId });
      case 'start-carrier':
        return this.start(step.name, step.join, step.version);
      case 'seal-carrier':
        return this.change(step.name, { sealed: true });
      case 'stop-carrier':
        return void this.pods.delete(step.name);
      case 'discard-carrier':
        return this.discard(step.name);
      case 'delete-volume':
        return this.kept.delete(step.uid, this.isWhole());
      case 'change-image':
        return this.change(step.name, { version: step.to });
      case 'move-leader':
        return void (this.leader = step.name);
      case 'add-member':
      case 'promote-member':
      case 'remove-member':
        return this.changeMembership(step);
      case 'release-carrier':
      case 'adopt-carrier':
      case 'relabel-carrier':
      case 'make-backup':
      case 'update-peer-url':
      case 'enable-downgrade':
      case 'cancel-downgrade':
      case 'issue-certificates':
      case 'stage-certificates':
      case 'drop-secrets':
        throw new Error(`${step.kind} is not part of these lives`);
      default:
        return step satisfies never;
    }
  }

  /** Its pod is gone, and its volume is kept. */
  private discard(name: CarrierName): void {
    this.pods.delete(name);
    if (this.disks.delete(name)) this.kept.keep(name);
    this.marks.delete(name);
  }

  private changeMembership(step: Extract<Step, { kind: 'add-member' | 'promote-member' | 'remove-member' }>): void {
    if (!hasQuorum(this.members())) throw new Error(`${step.kind} without a majority`);
    if (step.kind === 'add-member') {
      this.entries.push({ id: BigInt(1000 + this.names) as MemberId, name: step.name, role: step.as, started: false });
      return this.takeNames();
    }
    if (step.kind === 'promote-member') {
      for (const entry of this.entries.filter(({ id }) => id === step.id)) entry.role = 'voter';
      return;
    }
    this.entries = this.entries.filter((entry) => entry.id !== step.id);
  }

  private takeNames(): void {
    this.names += 10;
  }

  private start(name: CarrierName, join: Join, version: string): void {
    if (join.as === 'founder' && (this.memory.clusterId !== undefined || this.hasForgotten(name)))
      throw new Error(`${name} starts as new after the cluster has formed`);
    if (this.durable && !this.disks.has(name)) this.disks.set(name, undefined);
    const sealed = join.as === 'returner';
    this.pods.set(name, { name, join: join.as, sealed, up: true, data: undefined, version, template: this.template });
  }

  /** It was a member, and its data is gone: as new it would vote again without what it had promised to keep. */
  private hasForgotten(name: CarrierName): boolean {
    return this.disks.get(name) === undefined && this.entries.some((entry) => entry.name === name && entry.started);
  }

  private change(name: CarrierName, to: Partial<Pod>): void {
    Object.assign(this.pods.get(name) ?? {}, to);
  }

  /** Time goes by: what was started joins, as etcd would let it. */
  settle(): void {
    this.form();
    for (const entry of this.entries) {
      const pod = this.pods.get(entry.name);
      if (entry.started || pod?.join !== 'newcomer' || !this.entries.some((other) => this.serves(other))) continue;
      entry.started = true;
      this.fill(pod);
    }
    if (hasQuorum(this.members()) && this.entries.length > 0) this.note();
  }

  /** What the operator writes down when a majority has answered. */
  private note(): void {
    const voters = this.entries.filter(({ role }) => role === 'voter').map(({ name }) => name);
    this.memory = { ...this.memory, voters };
    for (const entry of this.entries.filter((each) => this.serves(each)))
      this.marks.set(entry.name, { clusterId: 'c1', members: voters });
  }

  private form(): void {
    const founders = this.memory.bootstrap?.members ?? [];
    const there = founders.filter((name) => this.pods.get(name)?.join === 'founder');
    if (this.entries.length > 0) return this.refuseSecond(there, quorumOf(founders.length));
    if (there.length === 0 || there.length < quorumOf(founders.length)) return;
    this.clusters += 1;
    this.entries = founders.map((name, i) => ({
      id: BigInt(i + 1) as MemberId,
      name,
      role: 'voter',
      started: there.includes(name),
    }));
    for (const name of there) this.fill(this.pods.get(name));
  }

  /** Whoever has data goes on with it; but those who have none are a cluster of their own, if they are enough for it. */
  private refuseSecond(founders: readonly CarrierName[], enough: number): void {
    if (!this.durable || this.memory.clusterId !== undefined) return;
    const empty = founders.filter((name) => this.disks.get(name) === undefined);
    if (empty.length >= enough) throw new Error(`${empty.join(', ')} form a cluster beside those who have data`);
  }

  private fill(pod: Pod | undefined): void {
    if (pod === undefined) return;
    pod.data = 'c1';
    if (this.durable) this.disks.set(pod.name, 'c1');
  }

  /** Somebody deletes a pod: what it kept in itself is gone. */
  deletePod(index: number): void {
    this.pods.delete([...this.pods.keys()][index % Math.max(this.pods.size, 1)] as CarrierName);
  }

  /**
   * Somebody deletes the cluster, and declares it again: nothing is left of it but disks, and perhaps not all. Those of a
   * cluster that another operator has made say nothing of it.
   */
  declareAgain(size: number, lost: readonly CarrierName[], madeBy: 'us' | 'another' = 'us'): void {
    this.size = size;
    if (madeBy === 'another') this.marks.clear();
    this.memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
    this.pods.clear();
    for (const name of lost) this.disks.delete(name);
  }

  private foundDisks(): readonly Pick<FoundDisk, 'name' | 'mark'>[] {
    return [...this.disks.keys()].map((name) => ({ name, mark: this.marks.get(name) }));
  }

  /** How many voters still have the data, running or not. */
  votersWithData(): number {
    const voters = this.entries.filter(({ role, started }) => role === 'voter' && started);
    return voters.filter(({ name }) => (this.durable ? this.disks.get(name) : this.pods.get(name)?.data) === 'c1')
      .length;
  }

  private isWhole(): boolean {
    const members = this.members();
    return members.length >= this.size && members.every(({ role, health }) => role === 'voter' && health === 'healthy');
  }

  isAsWanted(): boolean {
    const isNew = ({ version, template }: Pod): boolean => version === this.version && template === this.template;
    const upToDate = [...this.pods.values()].every(isNew);
    return this.isWhole() && upToDate && this.entries.length === this.size && this.pods.size === this.size;
  }
}
