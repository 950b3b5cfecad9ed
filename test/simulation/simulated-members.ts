import { minorOf, parseVersion } from '../../src/core/cluster/model/version.ts';
import { quorumOf } from '../../src/core/quorum.ts';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdFailure } from '../../src/etcd/errors.ts';
import { Failure } from '../../src/std/failure.ts';

interface Entry {
  readonly id: bigint;
  name: string;
  peerURL: string;
  isLearner: boolean;
}

/** An etcd process that is about to start. */
export interface StartingMember {
  readonly name: string;
  readonly version: string;
  readonly hasData: boolean;
}

const clusterId = 0xc1n;
/** Minimum patch release of a minor that every member must have run before a member runs the next minor (etcd upgrade guides). */
const floors: Readonly<Record<number, number>> = { 5: 32, 6: 11 };

function isBelowFloor(version: string): boolean {
  const { minor = 0, patch = 0 } = parseVersion(version) ?? {};
  return patch < (floors[minor] ?? 0);
}
const minorIn = (version: string): number => parseVersion(version)?.minor ?? 0;
const hostIn = (url: string): string => new URL(url).hostname.split('.')[0] ?? '';

/**
 * Simulates the members of one etcd cluster and checks the rules of etcd. A membership change needs quorum. A member may run at
 * most one minor above the cluster version and at most one minor away from its own last version. A downgrade needs
 * `downgrade enable` and migrated storage.
 */
export class SimulatedMembers {
  /** Violated rules; must stay empty. */
  readonly violations: string[] = [];
  entries: Entry[] = [];
  readonly #up = new Map<string, string>();
  /** The version that each member ran last. */
  readonly #lastVersions = new Map<string, string>();
  #leader = '';
  #minor = 0;
  #target: string | undefined;
  #isStorageMigrated = false;
  #ids = 0n;

  /** An independent copy. */
  copy(): SimulatedMembers {
    const copy = new SimulatedMembers();
    copy.violations.push(...this.violations);
    copy.entries = this.entries.map((entry) => ({ ...entry }));
    for (const [name, version] of this.#up) copy.#up.set(name, version);
    for (const [name, minor] of this.#lastVersions) copy.#lastVersions.set(name, minor);
    copy.#leader = this.#leader;
    copy.#minor = this.#minor;
    copy.#target = this.#target;
    copy.#isStorageMigrated = this.#isStorageMigrated;
    copy.#ids = this.#ids;
    return copy;
  }

  get voters(): readonly Entry[] {
    return this.entries.filter(({ isLearner }) => !isLearner);
  }

  isUp(name: string): boolean {
    return this.#up.has(name);
  }

  get serving(): number {
    return this.voters.filter(({ peerURL }) => this.isUp(hostIn(peerURL))).length;
  }

  get hasQuorum(): boolean {
    return this.serving >= quorumOf(this.voters.length);
  }

  named(name: string): Entry | undefined {
    return this.entries.find(({ peerURL }) => hostIn(peerURL) === name);
  }

  /** Forms the cluster from its bootstrap members. */
  form(
    bootstrapMembers: readonly { readonly name: string; readonly peerURL: string; readonly version: string }[],
  ): void {
    if (this.entries.length > 0) this.violations.push('the cluster was bootstrapped twice');
    this.entries = bootstrapMembers.map(({ name, peerURL }) => ({ id: ++this.#ids, name, peerURL, isLearner: false }));
    for (const { name, version } of bootstrapMembers) this.#serve(name, version);
    this.#minor = minorIn(bootstrapMembers[0]?.version ?? '');
    this.settle();
  }

  /** Starts a member. Returns false if the member has neither data nor a way to join. */
  start({ name, version, hasData }: StartingMember): boolean {
    const entry = this.named(name);
    const mayJoin = entry?.name === '' && this.hasQuorum;
    if (entry === undefined || (!hasData && !mayJoin)) return false;
    this.#checkVersion(version);
    this.#checkFloors(version);
    const ran = minorIn(this.#lastVersions.get(name) ?? version);
    if (Math.abs(minorIn(version) - ran) > 1)
      this.violations.push(`${name} changed from 3.${ran} to ${version} in one step`);
    entry.name = name;
    this.#serve(name, version);
    return true;
  }

  #serve(name: string, version: string): void {
    this.#up.set(name, version);
    this.#lastVersions.set(name, version);
  }

  #checkVersion(version: string): void {
    const minor = minorIn(version);
    const isAllowed = this.#isStorageMigrated && minor === this.#downgradeMinor;
    if (minor > this.#minor + 1)
      this.violations.push(`${version} was started in a cluster of version 3.${this.#minor}`);
    if (minor < this.#minor && !isAllowed) this.violations.push(`${version} was started on data of 3.${this.#minor}`);
  }

  /** Checks that every current member has reached its floor before a newer minor starts. */
  #checkFloors(version: string): void {
    for (const { peerURL } of this.entries) {
      const ran = this.#lastVersions.get(hostIn(peerURL)) ?? version;
      if (minorIn(ran) < minorIn(version) && isBelowFloor(ran))
        this.violations.push(`${version} was started although ${hostIn(peerURL)} last ran ${ran}, below the floor`);
    }
  }

  /** The minor of the enabled downgrade; 0 if none. */
  get #downgradeMinor(): number {
    return minorIn(this.#target ?? '');
  }

  /** The version that a member runs now. */
  runs(name: string): string | undefined {
    return this.#up.get(name);
  }

  stop(name: string): void {
    this.#up.delete(name);
  }

  /** Elects a leader and updates the cluster version. */
  settle(): void {
    const up = this.voters.filter(({ peerURL }) => this.isUp(hostIn(peerURL)));
    if (!up.some(({ name }) => name === this.#leader)) this.#leader = up[0]?.name ?? '';
    if (up.length === this.voters.length && up.length > 0)
      this.#updateClusterVersion([...this.#up.values()].map(minorIn));
  }

  #updateClusterVersion(running: readonly number[]): void {
    this.#isStorageMigrated = this.#target !== undefined;
    const common = Math.min(...running);
    if (common > this.#minor || common === this.#downgradeMinor) this.#minor = common;
    if (running.every((minor) => minor === this.#downgradeMinor))
      [this.#target, this.#isStorageMigrated] = [undefined, false];
  }

  /** A connection to one member. `write` wraps every change, so that a test can count changes or kill the operator. */
  connectionTo(name: string, write: (change: () => void) => Promise<void>): EtcdConnection {
    const answering = (): Entry => {
      const entry = this.named(name);
      if (entry === undefined || !this.isUp(name)) throw new Failure('unreachable', `${name} does not answer`);
      return entry;
    };
    const change = (work: () => void): Promise<void> =>
      write(() => {
        answering();
        if (!this.hasQuorum) throw new Failure('unreachable', 'no quorum');
        work();
      });
    return {
      status: async () => this.#statusOf(answering()),
      memberList: async ({ linearizable = true } = {}) => this.#listed(answering(), linearizable),
      memberAdd: ([peerURL = '']: readonly string[], { learner }: { learner: boolean }) =>
        change(() => this.#add(peerURL, learner)),
      memberRemove: (id: bigint) => change(() => void (this.entries = this.entries.filter((entry) => entry.id !== id))),
      memberPromote: (id: bigint) => change(() => this.#entry(id, (entry) => void (entry.isLearner = false))),
      memberUpdate: (id: bigint, [url = '']: readonly string[]) =>
        change(() => this.#entry(id, (entry) => void (entry.peerURL = url))),
      moveLeader: (id: bigint) => change(() => this.#entry(id, (entry) => void (this.#leader = entry.name))),
      downgrade: async (action: string, version: string) =>
        action === 'validate' ? this.#downgrade(action, version) : change(() => this.#downgrade(action, version)),
      authenticate: async () => {
        throw new EtcdFailure('rejected', 'authentication is not enabled', {
          refusal: 'auth-not-enabled',
          mayBeDone: false,
        });
      },
    } as unknown as EtcdConnection;
  }

  #statusOf({ id, name, isLearner }: Entry) {
    const version = this.#up.get(name) ?? '';
    const leader = this.hasQuorum ? (this.named(this.#leader)?.id ?? 0n) : 0n;
    const isNew = minorIn(version) >= 6;
    const storageVersion = this.#isStorageMigrated ? this.#target : minorOf(version);
    return {
      ...{ memberId: id, clusterId, version, leader, isLearner, raftIndex: 100n, errors: [] },
      ...(isNew ? { storageVersion, downgradeTarget: this.#target } : {}),
    };
  }

  #listed(_: Entry, linearizable: boolean) {
    if (linearizable && !this.hasQuorum) throw new Failure('unreachable', 'no quorum');
    return this.entries.map(({ id, name, peerURL, isLearner }) => {
      const clientURLs = name === '' ? [] : [peerURL.replace('2380', '2379')]; // set once the member has started
      return { id, name, peerURLs: [peerURL], clientURLs, isLearner };
    });
  }

  #entry(id: bigint, change: (entry: Entry) => void): void {
    const entry = this.entries.find((each) => each.id === id);
    if (entry === undefined) throw new EtcdFailure('not-found', 'no such member', { mayBeDone: false });
    change(entry);
  }

  #add(peerURL: string, isLearner: boolean): void {
    if (this.entries.some((entry) => entry.peerURL === peerURL))
      throw new EtcdFailure('conflict', 'peer URL exists already', { refusal: 'peer-url-exists', mayBeDone: false });
    this.entries.push({ id: ++this.#ids, name: '', peerURL, isLearner });
  }

  #downgrade(action: string, version: string): void {
    const canGoTo = minorIn(version) === this.#minor - 1;
    if (action !== 'cancel' && !canGoTo)
      throw new EtcdFailure('rejected', `cannot downgrade from 3.${this.#minor} to ${version}`, { mayBeDone: false });
    if (action === 'enable') this.#target = version;
    if (action === 'cancel') [this.#target, this.#isStorageMigrated] = [undefined, false];
  }
}
