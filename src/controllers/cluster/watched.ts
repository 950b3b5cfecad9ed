import type { Carrier, ClusterWorld, Member } from '../../core/model/cluster.ts';
import { hasFormed } from '../../core/plan/cluster/formed-unseen.ts';
import { isWithoutQuorum } from '../../core/plan/cluster/unreachable.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Lasting, Sustained } from '../../runtime/sustained.ts';
import { OldAlarms } from './alarms.ts';
import { SafeguardWatch } from './safeguard-watch.ts';

type Seen = Pick<ClusterWorld, 'carriers' | 'membership'>;

/** Adds to what a pass sees how long it has been so, counted by this operator alone over all its passes. */
export class Watched {
  readonly #pods: Sustained;
  readonly #members: Sustained;
  readonly #contact: Sustained;
  readonly oldAlarms: OldAlarms;
  readonly safeguards: SafeguardWatch;
  readonly #kept: Sustained;
  readonly #steps: Sustained;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#pods = new Sustained(clock);
    this.#members = new Sustained(clock);
    this.#contact = new Sustained(clock);
    this.oldAlarms = new OldAlarms(clock);
    this.safeguards = new SafeguardWatch(clock);
    this.#kept = new Sustained(clock);
    this.#steps = new Sustained(clock);
  }

  /** How many clusters are remembered. */
  get size(): number {
    const all = [this.#pods, this.#members, this.#contact, this.oldAlarms, this.safeguards, this.#kept, this.#steps];
    return Math.max(...all.map(({ size }) => size));
  }

  see(key: string, seen: Seen & Pick<ClusterWorld, 'memory'>): Seen & Pick<ClusterWorld, 'withoutQuorumMillis'> {
    const { carriers, membership } = seen;
    const lasting = this.#pods.note(key, carriers.flatMap(conditionsOf));
    const watched = carriers.map((carrier) => ({ ...carrier, ...timesOf(carrier, lasting) }));
    const isCutOff = hasFormed(seen) && isWithoutQuorum(seen);
    const withoutQuorumMillis = this.#contact.note(key, isCutOff ? ['quorum'] : []).get('quorum')?.millis;
    return { carriers: watched, membership: this.#silences(key, { carriers, membership }), withoutQuorumMillis };
  }

  /** For how long volumes of removed members have been kept as they are. */
  seeKept(key: string, volumes: readonly string[]): ReadonlyMap<string, Lasting> {
    return this.#kept.note(key, volumes);
  }

  /** One of them turned out to be in use. */
  startAgain(key: string, volume: string): void {
    this.#kept.startAgain(key, volume);
  }

  /** For how many milliseconds every pass has taken steps. */
  seeSteps(key: string, isActing: boolean): number {
    return this.#steps.note(key, isActing ? ['acting'] : []).get('acting')?.millis ?? 0;
  }

  forget(key: string): void {
    this.#pods.forget(key);
    this.#members.forget(key);
    this.#contact.forget(key);
    this.oldAlarms.forget(key);
    this.safeguards.forget(key);
    this.#kept.forget(key);
    this.#steps.forget(key);
  }

  #silences(key: string, { carriers, membership }: Seen): Seen['membership'] {
    if (!membership.seen) {
      this.#members.skip(key);
      return membership;
    }
    const { members } = membership.value;
    const nameOf = (member: Member): string => identityOf(member, carriers);
    const silent = this.#members.note(key, members.filter(({ health }) => health !== 'healthy').map(nameOf));
    const told = members.map((member) => ({ ...member, silence: silent.get(nameOf(member)) }));
    return { seen: true, value: { ...membership.value, members: told } };
  }
}

/** Another pod, or another image in it, begins anew: it is not to blame for what the one before did not do. */
const readinessOf = ({ uid, image, ready }: Carrier): string => [ready ? 'ready' : 'unready', uid, image].join('/');
const stoppingOf = ({ uid }: Carrier): string => `stopping/${uid}`;

const conditionsOf = (carrier: Carrier): readonly string[] =>
  carrier.phase === 'stopping' ? [readinessOf(carrier), stoppingOf(carrier)] : [readinessOf(carrier)];

function identityOf({ id, name }: Member, carriers: readonly Carrier[]): string {
  const carrier = carriers.find((each) => each.name === name);
  return [id, carrier?.uid, carrier?.image].join('/');
}

function timesOf(carrier: Carrier, lasting: ReadonlyMap<string, Lasting>): Partial<Carrier> {
  const millis = lasting.get(readinessOf(carrier))?.millis;
  const stoppingMillis = lasting.get(stoppingOf(carrier))?.millis;
  return { ...(carrier.ready ? { readyMillis: millis } : { unreadyMillis: millis }), stoppingMillis };
}
