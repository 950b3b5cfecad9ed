import { quorumOf } from '../../../src/core/quorum.ts';
import type { Scheduler } from '../world/scheduler.ts';
import type { Trace } from '../world/trace.ts';
import type { Violations } from '../world/violations.ts';
import type { Network } from './network.ts';
import type { SimulatedEtcd } from './process.ts';
import { type MemberEntry, minorIn } from './types.ts';

export interface GroupParts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly violations: Violations;
  readonly trace: Trace;
}

export interface RaisedAlarm {
  readonly memberId: bigint;
  readonly kind: 'NOSPACE' | 'CORRUPT';
}

/**
 * One etcd cluster: all members with one cluster ID. Raft is reduced to what the operator can break. Each member has a
 * log of some length; a commit is on a majority; the longest log of a majority leads.
 */
export class EtcdGroup {
  readonly id: bigint;
  /** The EtcdCluster, by its token. */
  readonly owner: string;
  /** True once a leader was elected. */
  hasFormed = false;
  /** The members that have had data. */
  readonly started = new Set<bigint>();
  /** The version that each member ran last. */
  readonly lastVersions = new Map<bigint, string>();
  /** When a member last had an entry from its leader. */
  readonly heardAt = new Map<bigint, number>();
  readonly alarms: RaisedAlarm[] = [];
  clusterMinor = 0;
  downgradeTarget: number | undefined;
  term = 1;
  #leader: SimulatedEtcd | undefined;
  /** The last entry that a majority has: acknowledged writes. */
  #committed: number;
  readonly #configs: { readonly index: number; readonly entries: readonly MemberEntry[] }[];
  readonly #parts: GroupParts;
  /** What the leader knows of each log. A member that has less than the leader believes panics. */
  readonly #matches = new Map<bigint, number>();
  #isElecting = false;
  #isUpdatingVersion = false;

  constructor(id: bigint, { owner, entries }: { owner: string; entries: readonly MemberEntry[] }, parts: GroupParts) {
    this.id = id;
    this.owner = owner;
    this.#parts = parts;
    this.#committed = entries.length;
    this.#configs = [{ index: 0, entries }];
  }

  get entries(): readonly MemberEntry[] {
    return this.#configs.at(-1)?.entries ?? [];
  }

  get committed(): number {
    return this.#committed;
  }

  /** The leader, if it still has a majority. */
  get leader(): SimulatedEtcd | undefined {
    return this.#leader !== undefined && this.hasQuorum(this.#leader) ? this.#leader : undefined;
  }

  configAt(index: number): readonly MemberEntry[] {
    const known = this.#configs.findLast((config) => config.index <= index || index === 0);
    return known?.entries ?? [];
  }

  get processes(): readonly SimulatedEtcd[] {
    return this.#parts.network.processes.filter((each) => each.isRunning && each.group === this);
  }

  processOf({ id }: Pick<MemberEntry, 'id'>): SimulatedEtcd | undefined {
    return this.processes.find(({ data }) => data?.memberId === id);
  }

  canTalk(a: SimulatedEtcd, b: SimulatedEtcd): boolean {
    return this.#parts.network.canTalk(a.node, b.node);
  }

  /** True if a process reaches a majority of the voters that it knows. */
  hasQuorum(from: SimulatedEtcd): boolean {
    if (!from.isRunning || from.group !== this) return false;
    const voters = from.config.filter(({ isLearner }) => !isLearner);
    return this.#reached(from, voters).length >= quorumOf(voters.length);
  }

  /** The members that have been connected with a member for so long. */
  connectedFor(from: SimulatedEtcd, millis: number): readonly MemberEntry[] {
    const { network, scheduler } = this.#parts;
    const since = (to: SimulatedEtcd): number =>
      Math.max(from.runningSince, to.runningSince, network.connectedSince(from.node, to.node));
    return this.entries.filter((entry) => {
      const to = this.processOf(entry);
      if (to === undefined || !this.canTalk(from, to)) return false;
      return to === from || scheduler.now - since(to) >= millis;
    });
  }

  /** The voters that serve: they run, and reach the leader. */
  healthyVoters(): readonly MemberEntry[] {
    const { leader } = this;
    const voters = this.entries.filter(({ isLearner }) => !isLearner);
    return leader === undefined ? [] : voters.filter((entry) => this.#reached(leader, [entry]).length === 1);
  }

  hasCaughtUp({ id }: Pick<MemberEntry, 'id'>): boolean {
    const index = this.processOf({ id })?.data?.index ?? 0;
    return index >= this.#committed * 0.9;
  }

  /** Replaces the member list. Only the leader of a majority does so. */
  changeMembers(entries: readonly MemberEntry[]): void {
    this.#configs.push({ index: this.#committed + 1, entries });
    this.#commit();
    this.settle();
  }

  moveLeader(to: SimulatedEtcd): void {
    this.#become(to);
  }

  /** Brings the cluster to the state that its members and connections allow: a leader, equal logs, a version. */
  settle(): void {
    const { leader } = this;
    if (leader === undefined) return this.#planElection();
    this.#commit();
    for (const process of this.processes) if (this.canTalk(leader, process)) this.#follow(process);
    this.#planVersion();
  }

  #reached(from: SimulatedEtcd, entries: readonly MemberEntry[]): readonly SimulatedEtcd[] {
    return entries.flatMap((entry) => {
      const to = this.processOf(entry);
      return to !== undefined && this.canTalk(from, to) ? [to] : [];
    });
  }

  #planElection(): void {
    if (this.#isElecting || this.#candidate() === undefined) return;
    this.#isElecting = true;
    const { scheduler } = this.#parts;
    scheduler.afterInert(scheduler.random.between(900, 2_000), () => {
      this.#isElecting = false;
      const candidate = this.leader === undefined ? this.#candidate() : undefined;
      if (candidate !== undefined) this.#become(candidate);
      this.settle();
    });
  }

  /** A voter with a longer log than a majority. A member votes for no shorter log than its own. */
  #candidate(): SimulatedEtcd | undefined {
    const byLog = this.processes.toSorted((a, b) => (b.data?.index ?? 0) - (a.data?.index ?? 0));
    return byLog.find((process) => {
      const voters = process.config.filter(({ isLearner }) => !isLearner);
      if (!voters.some(({ id }) => id === process.data?.memberId)) return false;
      const votes = this.#reached(process, voters).filter(
        (each) => (each.data?.index ?? 0) <= (process.data?.index ?? 0),
      );
      return votes.length >= quorumOf(voters.length);
    });
  }

  #become(leader: SimulatedEtcd): void {
    const { violations, trace } = this.#parts;
    const index = leader.data?.index ?? 0;
    if (this.hasFormed && index < this.#committed)
      violations.add('I1', `${leader.name} leads with ${index} of ${this.#committed} acknowledged entries`);
    this.hasFormed = true;
    this.#leader = leader;
    this.term++;
    this.#matches.clear();
    trace.add('etcd', () => `${leader.name} leads, term ${this.term}, log ${index}`);
  }

  /** Appends an entry, such as a write of a client, and replicates it to a majority. */
  #commit(): void {
    const { leader } = this;
    if (leader === undefined) return;
    const voters = leader.config.filter(({ isLearner }) => !isLearner);
    const reached = this.#reached(leader, voters).toSorted((a, b) => (b.data?.index ?? 0) - (a.data?.index ?? 0));
    const previous = this.#committed++;
    const isUpToDate = (process: SimulatedEtcd): boolean =>
      process === leader || (process.data?.index ?? 0) >= previous;
    reached.forEach((process, place) => {
      if ((isUpToDate(process) || place < quorumOf(voters.length)) && !this.#panics(process)) this.#append(process);
    });
  }

  #append(process: SimulatedEtcd): void {
    const { data } = process;
    if (data === undefined) return;
    data.index = this.#committed;
    this.#matches.set(data.memberId, this.#committed);
    this.heardAt.set(data.memberId, this.#parts.scheduler.now);
  }

  #panics({ data }: SimulatedEtcd): boolean {
    return data !== undefined && data.index < (this.#matches.get(data.memberId) ?? 0);
  }

  /** What a connected member learns from the leader: entries, its removal, or that its log is too short. */
  #follow(process: SimulatedEtcd): void {
    const { data } = process;
    if (data === undefined) return;
    if (!this.entries.some(({ id }) => id === data.memberId))
      return this.#exitLater(process, 'the member has been permanently removed from the cluster');
    if (this.#panics(process)) return this.#exitLater(process, 'tocommit is out of range: was the raft log lost?');
    if (data.index >= this.#committed && process.isServing) return;
    const { scheduler } = this.#parts;
    const millis = data.index === 0 ? scheduler.random.between(50, 2_000) : scheduler.random.between(5, 200);
    scheduler.afterInert(millis + process.slowMillis, () => this.#catchUp(process));
  }

  #catchUp(process: SimulatedEtcd): void {
    const { leader } = this;
    const { data } = process;
    if (leader === undefined || data === undefined || !process.isRunning || !this.canTalk(leader, process)) return;
    if (this.#panics(process) || data.group !== this) return;
    this.#append(process);
    process.isServing = true;
    const published = this.entries.map((entry) =>
      entry.id === data.memberId && entry.clientURLs.length === 0
        ? { ...entry, name: process.name, clientURLs: [entry.peerURL.replace(':2380', ':2379')] }
        : entry,
    );
    if (published.some((entry, i) => entry !== this.entries[i])) this.changeMembers(published);
  }

  #exitLater(process: SimulatedEtcd, message: string): void {
    this.#parts.scheduler.afterInert(this.#parts.scheduler.random.between(100, 3_000), () => {
      if (!process.isRunning) return;
      process.stop();
      process.settings.onExit(1, message);
      this.settle();
    });
  }

  /** The leader looks at the versions of all members every four seconds. */
  #planVersion(): void {
    const wanted = this.#wantedMinor();
    if (this.#isUpdatingVersion || (wanted === this.clusterMinor && this.downgradeTarget === undefined)) return;
    this.#isUpdatingVersion = true;
    const { scheduler } = this.#parts;
    const millis = this.clusterMinor === 0 ? 10 : scheduler.random.between(500, 4_500);
    scheduler.afterInert(millis, () => {
      this.#isUpdatingVersion = false;
      this.#updateVersion();
    });
  }

  #wantedMinor(): number {
    const running = this.entries.map((entry) => this.processOf(entry));
    if (this.leader === undefined || running.includes(undefined)) return this.clusterMinor;
    const common = Math.min(...running.map((each) => minorIn(each?.version ?? '')));
    return common > this.clusterMinor || common === this.downgradeTarget ? common : this.clusterMinor;
  }

  #updateVersion(): void {
    this.clusterMinor = this.#wantedMinor();
    for (const { data, version } of this.processes)
      if (data !== undefined && minorIn(version) >= 6) data.storageMinor = this.downgradeTarget ?? minorIn(version);
    const isDone = this.processes.every(({ version }) => minorIn(version) === this.downgradeTarget);
    if (isDone && this.clusterMinor === this.downgradeTarget) this.downgradeTarget = undefined;
  }
}
