import type { Member, Membership, Sighting } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { hasLearners } from '../../core/model/version.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { Alarm } from '../../etcd/words.ts';
import type { Clock } from '../../runtime/clock.ts';

/** An alarm, and the member that it is about, which may have been removed since. */
export interface Raised {
  readonly memberId: bigint;
  readonly kind: string;
}

/** Gives every member the alarms that are about it. */
export function withAlarms(membership: Membership, raised: readonly Raised[]): Membership {
  const kindsOf = (about: (alarm: Raised) => boolean): readonly string[] => [
    ...new Set(raised.filter(about).map(({ kind }) => kind)),
  ];
  const ids = new Set<bigint>(membership.members.map(({ id }) => id));
  const members = membership.members.map((member) => ({
    ...member,
    alarms: kindsOf(({ memberId }) => memberId === member.id),
  }));
  const left = kindsOf(({ memberId }) => !ids.has(memberId));
  return { ...membership, members, ...(left.length === 0 ? {} : { leftAlarms: left }) };
}

/** How often a cluster is asked. Every question is an entry in etcd's log, as a write is. */
const askedEveryMillis = 10_000;

interface Heard {
  readonly at: number;
  readonly raised: readonly Raised[];
}

type ConnectionTo = (name: CarrierName) => Pick<EtcdConnection, 'alarms'> | undefined;

/** The alarms of members before 3.4, which do not report them in their status: a member is asked now and then. */
export class OldAlarms {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #heard = new Map<string, Heard>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How many clusters are remembered. */
  get size(): number {
    return this.#heard.size;
  }

  /** The sighting, with the alarms of the last answer beside those in the status of newer members. */
  async added(key: string, sighting: Sighting<Membership>, connectionTo: ConnectionTo): Promise<Sighting<Membership>> {
    if (!sighting.seen || !sighting.value.members.some(isOld)) return sighting;
    const raised = await this.#raised(key, sighting.value, connectionTo);
    if (raised !== undefined) return { seen: true, value: united(sighting.value, withAlarms(sighting.value, raised)) };
    const areReported = sighting.value.members.some(reportsAlarms);
    return areReported ? sighting : { seen: true, value: { ...sighting.value, areAlarmsUnknown: true } };
  }

  /** Nothing where no answer has come yet. A question without an answer is asked again in the next pass. */
  async #raised(
    key: string,
    membership: Membership,
    connectionTo: ConnectionTo,
  ): Promise<readonly Raised[] | undefined> {
    const now = this.#clock.monotonic();
    const heard = this.#heard.get(key);
    if (heard !== undefined && now - heard.at < askedEveryMillis) return heard.raised;
    const raised = await ask(membership, connectionTo);
    if (raised === undefined) return heard?.raised; // an alarm is not over because a question was lost
    this.#heard.set(key, { at: now, raised });
    return raised;
  }

  forget(key: string): void {
    this.#heard.delete(key);
  }
}

const isOld = ({ version }: Member): boolean => version !== undefined && !hasLearners(version);
const reportsAlarms = ({ version }: Member): boolean => version !== undefined && hasLearners(version);

/** The same members, with the alarms of both. */
function united(one: Membership, other: Membership): Membership {
  const both = (a: readonly string[] = [], b: readonly string[] = []): readonly string[] => [...new Set([...a, ...b])];
  const left = both(one.leftAlarms, other.leftAlarms);
  const members = one.members.map((each, index) => ({
    ...each,
    alarms: both(each.alarms, other.members[index]?.alarms),
  }));
  return { ...one, members, ...(left.length === 0 ? {} : { leftAlarms: left }) };
}

/** Every member knows the alarms of all. The leader is asked first; where it does not answer, all others that run. */
async function ask({ members }: Membership, connectionTo: ConnectionTo): Promise<readonly Raised[] | undefined> {
  const running = members.filter(({ version, role }) => version !== undefined && role === 'voter');
  for (const asked of [running.filter(({ leads }) => leads), running.filter(({ leads }) => !leads)]) {
    const questions = asked.flatMap(({ name }) => connectionTo(name)?.alarms({ timeoutMillis: 2_000 }) ?? []);
    const alarms = await Promise.any(questions).catch(() => undefined);
    if (alarms !== undefined) return alarms.flatMap(raisedBy);
  }
  return undefined;
}

const namesOf: Readonly<Record<Alarm['kind'], string | undefined>> = {
  'no-space': 'NOSPACE',
  corrupt: 'CORRUPT',
  unknown: undefined,
};

const raisedBy = ({ memberId, kind }: Alarm): readonly Raised[] => {
  const name = namesOf[kind];
  return name === undefined ? [] : [{ memberId, kind: name }];
};
