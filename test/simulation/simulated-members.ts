import { minorOf, parseVersion } from '../../src/core/model/version.ts';
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

/** One etcd that was started, or is about to be. */
export interface Started {
  readonly name: string;
  readonly version: string;
  readonly hasData: boolean;
}

const clusterId = 0xc1n;
/** The least patch of a minor that every member must have run before any member runs the next minor, by etcd's own guides. */
const floors: Readonly<Record<number, number>> = { 5: 32, 6: 11 };

function isBelowFloor(version: string): boolean {
  const { minor = 0, patch = 0 } = parseVersion(version) ?? {};
  return patch < (floors[minor] ?? 0);
}
const minorIn = (version: string): number => parseVersion(version)?.minor ?? 0;
const hostIn = (url: string): string => new URL(url).hostname.split('.')[0] ?? '';

/**
 * The members of one etcd, which obey its rules: a change takes a majority, a member goes one minor beyond what all run and no
 * further, nor further than one from what it ran itself, and goes back only when all were told and have made their data
 * readable.
 */
export class SimulatedMembers {
  /** What must never be. */
  readonly violations: string[] = [];
  entries: Entry[] = [];
  readonly #up = new Map<string, string>();
  /** The version that each ran last, whose data is on its disk. */
  readonly #ran = new Map<string, string>();
  #leader = '';
  #minor = 0;
  #target: string | undefined;
  #isReadable = false;
  #ids = 0n;

  /** The same members, which go their own way from here on. */
  copy(): SimulatedMembers {
    const copy = new SimulatedMembers();
    copy.violations.push(...this.violations);
    copy.entries = this.entries.map((entry) => ({ ...entry }));
    for (const [name, version] of this.#up) copy.#up.set(name, version);
    for (const [name, minor] of this.#ran) copy.#ran.set(name, minor);
    copy.#leader = this.#leader;
    copy.#minor = this.#minor;
    copy.#target = this.#target;
    copy.#isReadable = this.#isReadable;
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

  get hasMajority(): boolean {
    return this.serving >= quorumOf(this.voters.length);
  }

  named(name: string): Entry | undefined {
    return this.entries.find(({ peerURL }) => hostIn(peerURL) === name);
  }

  /** Founders find each other, all at once. */
  form(founders: readonly { readonly name: string; readonly peerURL: string; readonly version: string }[]): void {
    if (this.entries.length > 0) this.violations.push('a cluster was founded twice');
    this.entries = founders.map(({ name, peerURL }) => ({ id: ++this.#ids, name, peerURL, isLearner: false }));
    for (const { name, version } of founders) this.#serve(name, version);
    this.#minor = minorIn(founders[0]?.version ?? '');
    this.settle();
  }

  /** Whether it comes up, by what it finds on its disk and in the list. */
  start({ name, version, hasData }: Started): boolean {
    const entry = this.named(name);
    const mayJoin = entry?.name === '' && this.hasMajority;
    if (entry === undefined || (!hasData && !mayJoin)) return false;
    this.#judge(version);
    this.#judgeFloors(version);
    const ran = minorIn(this.#ran.get(name) ?? version);
    if (Math.abs(minorIn(version) - ran) > 1) this.violations.push(`${name} went from 3.${ran} to ${version} at once`);
    entry.name = name;
    this.#serve(name, version);
    return true;
  }

  #serve(name: string, version: string): void {
    this.#up.set(name, version);
    this.#ran.set(name, version);
  }

  #judge(version: string): void {
    const minor = minorIn(version);
    const isAllowed = this.#isReadable && minor === this.#back;
    if (minor > this.#minor + 1) this.violations.push(`${version} was started beside 3.${this.#minor}`);
    if (minor < this.#minor && !isAllowed) this.violations.push(`${version} was started on data of 3.${this.#minor}`);
  }

  /** Members that were removed do not count. */
  #judgeFloors(version: string): void {
    for (const { peerURL } of this.entries) {
      const ran = this.#ran.get(hostIn(peerURL)) ?? version;
      if (minorIn(ran) < minorIn(version) && isBelowFloor(ran))
        this.violations.push(`${version} was started before ${hostIn(peerURL)}, last on ${ran}, ran its floor`);
    }
  }

  /** The minor that all may go back to. */
  get #back(): number {
    return minorIn(this.#target ?? '');
  }

  /** The version that a member runs now. */
  runs(name: string): string | undefined {
    return this.#up.get(name);
  }

  stop(name: string): void {
    this.#up.delete(name);
  }

  /** Time goes by: somebody leads, and all agree on the version they have in common. */
  settle(): void {
    const up = this.voters.filter(({ peerURL }) => this.isUp(hostIn(peerURL)));
    if (!up.some(({ name }) => name === this.#leader)) this.#leader = up[0]?.name ?? '';
    if (up.length === this.voters.length && up.length > 0) this.#agree([...this.#up.values()].map(minorIn));
  }

  #agree(running: readonly number[]): void {
    this.#isReadable = this.#target !== undefined;
    const common = Math.min(...running);
    if (common > this.#minor || common === this.#back) this.#minor = common;
    if (running.every((minor) => minor === this.#back)) [this.#target, this.#isReadable] = [undefined, false];
  }

  /** What one member answers. `does` is whoever counts what is asked for, and may not live to hear the answer. */
  connectionTo(name: string, does: (change: () => void) => Promise<void>): EtcdConnection {
    const answering = (): Entry => {
      const entry = this.named(name);
      if (entry === undefined || !this.isUp(name)) throw new Failure('unreachable', `${name} does not answer`);
      return entry;
    };
    const change = (work: () => void): Promise<void> =>
      does(() => {
        answering();
        if (!this.hasMajority) throw new Failure('unreachable', 'there is no majority');
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
        throw new EtcdFailure('rejected', 'there are no users', { refusal: 'auth-not-enabled', mayBeDone: false });
      },
    } as unknown as EtcdConnection;
  }

  #statusOf({ id, name, isLearner }: Entry) {
    const version = this.#up.get(name) ?? '';
    const leader = this.hasMajority ? (this.named(this.#leader)?.id ?? 0n) : 0n;
    const isNew = minorIn(version) >= 6;
    const storageVersion = this.#isReadable ? this.#target : minorOf(version);
    return {
      ...{ memberId: id, clusterId, version, leader, isLearner, raftIndex: 100n, errors: [] },
      ...(isNew ? { storageVersion, downgradeTarget: this.#target } : {}),
    };
  }

  #listed(_: Entry, linearizable: boolean) {
    if (linearizable && !this.hasMajority) throw new Failure('unreachable', 'there is no majority');
    return this.entries.map(({ id, name, peerURL, isLearner }) => {
      const clientURLs = name === '' ? [] : [peerURL.replace('2380', '2379')]; // told once it has started
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
      throw new EtcdFailure('conflict', 'it is there', { refusal: 'peer-url-exists', mayBeDone: false });
    this.entries.push({ id: ++this.#ids, name: '', peerURL, isLearner });
  }

  #downgrade(action: string, version: string): void {
    const canGoTo = minorIn(version) === this.#minor - 1;
    if (action !== 'cancel' && !canGoTo)
      throw new EtcdFailure('rejected', `nobody goes from 3.${this.#minor} to ${version}`, { mayBeDone: false });
    if (action === 'enable') this.#target = version;
    if (action === 'cancel') [this.#target, this.#isReadable] = [undefined, false];
  }
}
