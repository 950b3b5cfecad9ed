import type { MaybeSeen, Member, Membership } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { hasLearners } from '../../../core/cluster/model/version.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import type { Alarm } from '../../../etcd/types.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** An alarm and its member. The member may have been removed since. */
export interface RaisedAlarm {
  readonly memberId: bigint;
  readonly kind: string;
}

/** Adds its alarms to each member. */
export function withAlarms(membership: Membership, raised: readonly RaisedAlarm[]): Membership {
  const kindsOf = (about: (alarm: RaisedAlarm) => boolean): readonly string[] => [
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

/** The interval between two alarm requests. Each request is an entry in etcd's log, like a write. */
const intervalMillis = 10_000;

interface Answer {
  readonly at: number;
  readonly raised: readonly RaisedAlarm[];
}

type ConnectionTo = (name: MemberName) => Pick<EtcdConnection, 'alarms'> | undefined;

/** The alarms of members before 3.4. Their status has no alarms, so one member is asked at an interval. */
export class OldAlarms {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #answers = new Map<string, Answer>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The number of remembered clusters. */
  get size(): number {
    return this.#answers.size;
  }

  /** Adds the alarms of the last answer to the alarms in the status of newer members. */
  async addTo(
    key: string,
    observation: MaybeSeen<Membership>,
    connectionTo: ConnectionTo,
  ): Promise<MaybeSeen<Membership>> {
    if (!observation.seen || !observation.value.members.some(isOld)) return observation;
    const raised = await this.#raised(key, observation.value, connectionTo);
    if (raised !== undefined)
      return { seen: true, value: merged(observation.value, withAlarms(observation.value, raised)) };
    const areReported = observation.value.members.some(reportsAlarms);
    return areReported ? observation : { seen: true, value: { ...observation.value, areAlarmsUnknown: true } };
  }

  /** Undefined until the first answer. An unanswered request is repeated in the next pass. */
  async #raised(
    key: string,
    membership: Membership,
    connectionTo: ConnectionTo,
  ): Promise<readonly RaisedAlarm[] | undefined> {
    const now = this.#clock.monotonic();
    const answer = this.#answers.get(key);
    if (answer !== undefined && now - answer.at < intervalMillis) return answer.raised;
    const raised = await ask(membership, connectionTo);
    if (raised === undefined) return answer?.raised; // an unanswered request does not clear an alarm
    this.#answers.set(key, { at: now, raised });
    return raised;
  }

  forget(key: string): void {
    this.#answers.delete(key);
  }
}

const isOld = ({ version }: Member): boolean => version !== undefined && !hasLearners(version);
const reportsAlarms = ({ version }: Member): boolean => version !== undefined && hasLearners(version);

/** The members of both memberships, which are the same, with the alarms of both. */
function merged(one: Membership, other: Membership): Membership {
  const both = (a: readonly string[] = [], b: readonly string[] = []): readonly string[] => [...new Set([...a, ...b])];
  const left = both(one.leftAlarms, other.leftAlarms);
  const members = one.members.map((each, index) => ({
    ...each,
    alarms: both(each.alarms, other.members[index]?.alarms),
  }));
  return { ...one, members, ...(left.length === 0 ? {} : { leftAlarms: left }) };
}

/** Every member returns the alarms of all members. The leader is asked first, then all other running members. */
async function ask({ members }: Membership, connectionTo: ConnectionTo): Promise<readonly RaisedAlarm[] | undefined> {
  const running = members.filter(({ version, role }) => version !== undefined && role === 'voter');
  for (const asked of [running.filter(({ leads }) => leads), running.filter(({ leads }) => !leads)]) {
    const requests = asked.flatMap(({ name }) => connectionTo(name)?.alarms({ timeoutMillis: 2_000 }) ?? []);
    const alarms = await Promise.any(requests).catch(() => undefined);
    if (alarms !== undefined) return alarms.flatMap(raisedBy);
  }
  return undefined;
}

const namesOf: Readonly<Record<Alarm['kind'], string | undefined>> = {
  'no-space': 'NOSPACE',
  corrupt: 'CORRUPT',
  unknown: undefined,
};

const raisedBy = ({ memberId, kind }: Alarm): readonly RaisedAlarm[] => {
  const name = namesOf[kind];
  return name === undefined ? [] : [{ memberId, kind: name }];
};
