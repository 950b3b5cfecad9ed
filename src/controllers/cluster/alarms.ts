import type { Membership, Sighting } from '../../core/model/cluster.ts';
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

/** The alarms of members before 3.4, which do not speak of them in their status: their leader is asked now and then. */
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

  /** The sighting, with the alarms that were last heard of. */
  async added(key: string, sighting: Sighting<Membership>, connectionTo: ConnectionTo): Promise<Sighting<Membership>> {
    if (!sighting.seen || !isOld(sighting.value)) return sighting;
    return { seen: true, value: withAlarms(sighting.value, await this.#raised(key, sighting.value, connectionTo)) };
  }

  async #raised(key: string, membership: Membership, connectionTo: ConnectionTo): Promise<readonly Raised[]> {
    const now = this.#clock.monotonic();
    const { at, raised: before } = this.#heard.get(key) ?? { at: Number.NEGATIVE_INFINITY, raised: [] };
    if (now - at < askedEveryMillis) return before;
    const raised = (await ask(membership, connectionTo)) ?? before;
    this.#heard.set(key, { at: now, raised });
    return raised;
  }

  forget(key: string): void {
    this.#heard.delete(key);
  }
}

const isOld = ({ members }: Membership): boolean =>
  members.some(({ version }) => version !== undefined && !hasLearners(version));

/** Nothing where the leader does not say: an alarm is not over because a question was lost. */
async function ask({ members }: Membership, connectionTo: ConnectionTo): Promise<readonly Raised[] | undefined> {
  const leader = members.find(({ leads }) => leads);
  const connection = leader && connectionTo(leader.name);
  if (connection === undefined) return undefined;
  return connection.alarms({ timeoutMillis: 2_000 }).then(
    (alarms) => alarms.flatMap(raisedBy),
    () => undefined,
  );
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
