import { hasHistory } from '../../src/core/cluster/model/cluster.ts';
import { freeOrdinals } from '../../src/core/cluster/model/ordinals.ts';
import { type FoundVolume, memoryFromVolumes, type VolumeRecord } from '../../src/core/cluster/model/retained-pvcs.ts';
import { hasQuorum, quorumOf } from '../../src/core/quorum.ts';
import { healthy, nameOf } from '../support/worlds.ts';
import { SimulatedKeptVolumes } from './simulated-kept-volumes.ts';
import { bareVolume, memberPodOf } from './simulated-member-pods.ts';
import { changedEntries, type MembershipStep, memberOf } from './simulated-membership.ts';
import type {
  ClusterWorld,
  Entry,
  Join,
  Member,
  MemberId,
  MemberName,
  MemberNames,
  MemberPod,
  MemberStep,
  Memory,
  Pod,
  Settings,
} from './types.ts';

/**
 * Simulates Kubernetes and etcd for one cluster, fast enough for thousands of runs. The rules are those of etcd: a member serves
 * only with its data, a membership change needs quorum, a learner has no vote.
 */
export class SimulatedCluster {
  memory: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
  size: number;
  readonly pods = new Map<MemberName, Pod>();
  readonly volumes = new Map<MemberName, string | undefined>();
  readonly kept = new SimulatedKeptVolumes();
  /** The cluster records on PVCs. */
  private readonly volumeRecords = new Map<MemberName, VolumeRecord>();
  entries: Entry[] = [];
  clusters = 0;
  private readonly durable: boolean;
  /** The version in the spec. */
  version: string;
  template = 'first';
  private readonly memberNames: MemberNames;
  private names = 0;
  private leader: MemberName | undefined;

  constructor(settings: Settings) {
    this.size = settings.size;
    this.durable = settings.durable;
    this.version = settings.version;
    this.memberNames = settings.memberNames ?? 'random';
  }

  /** The world that one pass observes. */
  world(): ClusterWorld {
    const base = healthy(1);
    const members = this.members();
    const seen = this.entries.length > 0 && hasQuorum(members);
    const memory = memoryFromVolumes(this.memory, this.foundVolumes());
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
      memberPods: isNew ? [] : this.memberPods(),
      retainedVolumes: isNew ? [...this.volumes.keys()] : [],
      membership: seen ? { seen, value: { clusterId: 'c1', members } } : this.unconfirmedMembership(members),
      secretProblems: [],
      spareNames: this.spareNames(),
    };
  }

  private spareNames(): readonly MemberName[] {
    if (this.memberNames === 'random') return Array.from({ length: 9 }, (_, i) => nameOf(`db-${this.names + i}`));
    const taken = [...this.pods.keys(), ...this.volumes.keys(), ...this.entries.map(({ name }) => name)];
    return freeOrdinals('db', new Set(taken), 9);
  }

  /** Without quorum, a serving member still returns its unconfirmed member list. */
  private unconfirmedMembership(members: readonly Member[]): ClusterWorld['membership'] {
    const anyServes = this.entries.some((entry) => this.serves(entry));
    return {
      seen: false,
      why: 'no member answers',
      ...(anyServes ? { unconfirmed: { clusterId: 'c1', members } } : {}),
    };
  }

  members(): readonly Member[] {
    const mayLead = this.entries.filter((entry) => entry.role === 'voter' && this.serves(entry));
    const leader = mayLead.find(({ name }) => name === this.leader) ?? mayLead[0];
    return this.entries.map((entry) => {
      const { version } = this.pods.get(entry.name) ?? {};
      return memberOf(entry, { serves: this.serves(entry), leads: entry === leader, version });
    });
  }

  private serves({ name, started }: Entry): boolean {
    const pod = this.pods.get(name);
    return started && pod?.up === true && this.dataOf(pod) === 'c1';
  }

  private dataOf(pod: Pod): string | undefined {
    return this.durable ? this.volumes.get(pod.name) : pod.data;
  }

  private memberPods(): readonly MemberPod[] {
    const withPods = [...this.pods.values()].map((pod) => this.memberPodOf(pod));
    const bare = [...this.volumes.keys()].filter((name) => !this.pods.has(name));
    return [...withPods, ...(this.durable ? bare.map(bareVolume) : [])];
  }

  private memberPodOf(pod: Pod): MemberPod {
    const volume = this.durable ? (this.volumes.has(pod.name) ? 'own' : 'lost') : 'with-pod';
    return memberPodOf(pod, { volume, data: this.dataOf(pod), template: this.template });
  }

  /** Performs a step of the operator. */
  perform(step: MemberStep): void {
    switch (step.kind) {
      case 'record-bootstrap':
        this.memory = { ...this.memory, bootstrap: step.bootstrap };
        return this.takeNames();
      case 'record-formation':
        return void (this.memory = { ...this.memory, clusterId: step.clusterId });
      case 'start-member-pod':
        return this.start(step.name, step.join, step.version);
      case 'forbid-rebootstrap':
        return this.change(step.name, { bootstrapForbidden: true });
      case 'stop-member-pod':
        return void this.pods.delete(step.name);
      case 'delete-member-pod':
        return this.discard(step.name);
      case 'delete-volume':
        return this.kept.delete(step.uid, this.allMembersHealthy());
      case 'change-image':
        return this.change(step.name, { version: step.to });
      case 'transfer-leadership':
        return void (this.leader = step.name);
      case 'add-member':
      case 'promote-member':
      case 'remove-member':
        return this.changeMembership(step);
      case 'release-member-pod':
      case 'adopt-member-pod':
      case 'relabel-member-pod':
      case 'make-backup':
      case 'update-peer-url':
      case 'enable-downgrade':
      case 'cancel-downgrade':
      case 'issue-certificates':
      case 'stage-certificates':
      case 'drop-secrets':
        throw new Error(`${step.kind} is not simulated`);
      default:
        return step satisfies never;
    }
  }

  /** Deletes the pod of a removed member and keeps its PVC. */
  private discard(name: MemberName): void {
    this.pods.delete(name);
    if (this.volumes.delete(name)) this.kept.keep(name);
    this.volumeRecords.delete(name);
  }

  private changeMembership(step: MembershipStep): void {
    if (!hasQuorum(this.members())) throw new Error(`${step.kind} without quorum`);
    this.entries = changedEntries(this.entries, step, BigInt(1000 + this.names) as MemberId);
    if (step.kind === 'add-member') this.takeNames();
  }

  private takeNames(): void {
    this.names += 10;
  }

  private start(name: MemberName, join: Join, version: string): void {
    if (join.as === 'bootstrap' && (this.memory.clusterId !== undefined || this.hasLostData(name)))
      throw new Error(`${name} bootstraps after the cluster has formed`);
    if (this.durable && !this.volumes.has(name)) this.volumes.set(name, undefined);
    const bootstrapForbidden = join.as === 'restarting';
    this.pods.set(name, {
      name,
      join: join.as,
      bootstrapForbidden,
      up: true,
      data: undefined,
      version,
      template: this.template,
    });
  }

  /** True if a started member has lost its data. Bootstrapping it again would break its earlier votes. */
  private hasLostData(name: MemberName): boolean {
    return this.volumes.get(name) === undefined && this.entries.some((entry) => entry.name === name && entry.started);
  }

  private change(name: MemberName, to: Partial<Pod>): void {
    Object.assign(this.pods.get(name) ?? {}, to);
  }

  /** Forms the cluster and lets started members join, as etcd would. */
  settle(): void {
    this.form();
    for (const entry of this.entries) {
      const pod = this.pods.get(entry.name);
      if (entry.started || pod?.join !== 'joining' || !this.entries.some((other) => this.serves(other))) continue;
      entry.started = true;
      this.fill(pod);
    }
    if (hasQuorum(this.members()) && this.entries.length > 0) this.recordMembership();
  }

  /** Records the voters in status and on PVCs, as the operator does with quorum. */
  private recordMembership(): void {
    const voters = this.entries.filter(({ role }) => role === 'voter').map(({ name }) => name);
    this.memory = { ...this.memory, voters };
    for (const entry of this.entries.filter((each) => this.serves(each)))
      this.volumeRecords.set(entry.name, { clusterId: 'c1', members: voters });
  }

  private form(): void {
    const bootstrapMembers = this.memory.bootstrap?.members ?? [];
    const started = bootstrapMembers.filter((name) => this.pods.get(name)?.join === 'bootstrap');
    if (this.entries.length > 0) return this.rejectSecondCluster(started, quorumOf(bootstrapMembers.length));
    if (started.length === 0 || started.length < quorumOf(bootstrapMembers.length)) return;
    this.clusters += 1;
    this.entries = bootstrapMembers.map((name, i) => ({
      id: BigInt(i + 1) as MemberId,
      name,
      role: 'voter',
      started: started.includes(name),
    }));
    for (const name of started) this.fill(this.pods.get(name));
  }

  /** Throws if bootstrap members without data are enough to form a second cluster beside members with data. */
  private rejectSecondCluster(bootstrapMembers: readonly MemberName[], enough: number): void {
    if (!this.durable || this.memory.clusterId !== undefined) return;
    const empty = bootstrapMembers.filter((name) => this.volumes.get(name) === undefined);
    if (empty.length >= enough) throw new Error(`${empty.join(', ')} form a second cluster beside members with data`);
  }

  private fill(pod: Pod | undefined): void {
    if (pod === undefined) return;
    pod.data = 'c1';
    if (this.durable) this.volumes.set(pod.name, 'c1');
  }

  /** Deletes a pod on behalf of a user; data without PVC is lost. */
  deletePod(index: number): void {
    this.pods.delete([...this.pods.keys()][index % Math.max(this.pods.size, 1)] as MemberName);
  }

  /** Deletes the cluster and creates it again; only PVCs are left. PVCs of another operator have no cluster record. */
  recreate(size: number, lost: readonly MemberName[], madeBy: 'us' | 'another' = 'us'): void {
    this.size = size;
    if (madeBy === 'another') this.volumeRecords.clear();
    this.memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
    this.pods.clear();
    for (const name of lost) this.volumes.delete(name);
  }

  private foundVolumes(): readonly Pick<FoundVolume, 'name' | 'record'>[] {
    return [...this.volumes.keys()].map((name) => ({ name, record: this.volumeRecords.get(name) }));
  }

  /** The number of voters with data, running or not. */
  votersWithData(): number {
    const voters = this.entries.filter(({ role, started }) => role === 'voter' && started);
    return voters.filter(({ name }) => (this.durable ? this.volumes.get(name) : this.pods.get(name)?.data) === 'c1')
      .length;
  }

  private allMembersHealthy(): boolean {
    const members = this.members();
    return members.length >= this.size && members.every(({ role, health }) => role === 'voter' && health === 'healthy');
  }

  matchesSpec(): boolean {
    const isNew = ({ version, template }: Pod): boolean => version === this.version && template === this.template;
    const upToDate = [...this.pods.values()].every(isNew);
    return this.allMembersHealthy() && upToDate && this.entries.length === this.size && this.pods.size === this.size;
  }
}
