import type { MaybeSeen, Member, MemberPod, Membership } from '../../core/cluster/model/cluster.ts';
import { confirmsListLinearizably } from '../../core/cluster/model/version.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Asked, type Confirmed, readFromOne } from './observe/membership.ts';

/** The pass of a cluster: its verdict, and what it has observed. */
interface Pass {
  readonly verdict: Verdict;
  readonly observed: {
    readonly world: { readonly membership: MaybeSeen<Membership>; readonly memberPods: readonly MemberPod[] };
    readonly hasAskedAll: boolean;
  };
}

/** What all members of a settled cluster last answered, and the pods that they ran in. */
interface Settled {
  readonly membership: Membership;
  readonly pods: string;
  /** How many passes have asked one member since. */
  looks: number;
}

/** All members are asked again after so many passes that asked one member. */
const mostLooks = 20;
/** The time between two looks at a settled cluster grows with the fleet, so that their number a second stays low. */
const seconds = { least: 10, most: 50, forEachCluster: 0.06 } as const;

/** The seconds until the next look at a settled cluster. */
export const secondsBetweenLooks = (clusters: number): number =>
  Math.min(Math.max(seconds.least, clusters * seconds.forEachCluster), seconds.most);

interface Dependencies {
  readonly clock: Pick<Clock, 'random'>;
  /** The number of clusters that this operator serves. */
  readonly clusters: () => number;
  /** Closes connections to members that are not asked soon. */
  readonly rest: (key: string) => void;
}

/**
 * Settled clusters are asked rarely, and one member each time: a linearizable member list proves a quorum, and its
 * status has the alarms of all members. Readiness of the other members is watched. Any difference, and any verdict but
 * settled, has all members asked in the same pass.
 */
export class SettledClusters {
  readonly #dependencies: Dependencies;
  readonly #settled = new Map<string, Settled>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#settled.size;
  }

  get secondsBetweenLooks(): number {
    return secondsBetweenLooks(this.#dependencies.clusters());
  }

  /** Asks one member, in turn. Undefined if all members must be asked. */
  async look(
    key: string,
    memberPods: readonly MemberPod[],
    asked: readonly Asked[],
  ): Promise<MaybeSeen<Membership> | undefined> {
    const settled = this.#settled.get(key);
    if (settled === undefined || settled.looks >= mostLooks || settled.pods !== stateOf(memberPods)) return undefined;
    const one = asked[settled.looks++ % asked.length];
    if (one === undefined) return undefined;
    const answer = await readFromOne(one);
    if (answer === undefined || !confirms(answer, settled.membership, one)) return undefined;
    return { seen: true, value: settled.membership };
  }

  /** Records the end of a pass. */
  end(key: string, { verdict, observed: { world, hasAskedAll } }: Pass): void {
    if (verdict.is !== 'settled') return this.forget(key);
    this.#dependencies.rest(key);
    if (!hasAskedAll || !world.membership.seen) return;
    const { membership, memberPods } = world;
    if (isQuiet(membership.value, memberPods)) this.#remember(key, membership.value, memberPods);
    else this.forget(key);
  }

  forget(key: string): void {
    this.#settled.delete(key);
  }

  /** The turn starts anywhere, so that members are asked evenly after a restart of the operator. */
  #remember(key: string, membership: Membership, memberPods: readonly MemberPod[]): void {
    const looks = Math.floor(this.#dependencies.clock.random() * membership.members.length);
    this.#settled.set(key, { membership, pods: stateOf(memberPods), looks });
  }
}

/** The pods, and whatever tells of them that a member may have changed. */
const stateOf = (memberPods: readonly MemberPod[]): string =>
  memberPods.map(({ uid, image, phase, ready }) => [uid, image, phase, ready].join(' ')).join();

/**
 * True if every member is healthy, without alarms, in a ready pod, and new enough to be asked alone. A probe that only
 * opens a port does not show that etcd answers: such members are asked themselves.
 */
const isQuiet = ({ members, leftAlarms, areAlarmsUnknown }: Membership, memberPods: readonly MemberPod[]): boolean =>
  leftAlarms === undefined &&
  areAlarmsUnknown !== true &&
  members.every(isQuietMember) &&
  memberPods.length === members.length &&
  memberPods.every(({ phase, ready, listensOnly }) => phase === 'running' && ready && listensOnly !== true);

const isQuietMember = ({ role, health, alarms = [], version }: Member): boolean =>
  role === 'voter' && health === 'healthy' && alarms.length === 0 && confirmsListLinearizably(version);

/** True if the answer of one member agrees with what all members answered before. */
function confirms({ membership, leader }: Confirmed, before: Membership, { name }: Asked): boolean {
  const { members } = membership;
  const [state, stateBefore] = [members, before.members].map((each) => each.find((member) => member.name === name));
  return (
    membership.clusterId === before.clusterId &&
    membership.leftAlarms === undefined &&
    members.length === before.members.length &&
    members.every((member, index) => isSameEntry(member, before.members[index])) &&
    before.members.some(({ id, leads }) => leads && id === leader) &&
    isSameState(state, stateBefore)
  );
}

const isSameEntry = (one: Member, other: Member | undefined): boolean =>
  one.id === other?.id &&
  one.name === other.name &&
  one.role === other.role &&
  one.peerURLs.join() === other.peerURLs.join() &&
  (one.alarms ?? []).length === 0;

const isSameState = (one: Member | undefined, other: Member | undefined): boolean =>
  one?.health === 'healthy' &&
  one.version === other?.version &&
  one.storageVersion === other?.storageVersion &&
  one.downgradeTarget === other?.downgradeTarget;
