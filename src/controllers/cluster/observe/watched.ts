import type { ClusterWorld, Member, MemberPod } from '../../../core/cluster/model/cluster.ts';
import { hasFormed } from '../../../core/cluster/plan/bootstrap/has-formed.ts';
import { isWithoutQuorum } from '../../../core/cluster/plan/heal/unreachable.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { ConditionDurations, type HeldDuration } from '../../../runtime/condition-durations.ts';
import { OldAlarms } from './alarms.ts';
import { PreUpgradeBackupWatch } from './backup/pre-upgrade-backup-watch.ts';

type Seen = Pick<ClusterWorld, 'memberPods' | 'membership'>;

/** Adds to observed states how long they have lasted, as measured by this operator over its passes. */
export class Watched {
  readonly #pods: ConditionDurations;
  readonly #members: ConditionDurations;
  readonly #contact: ConditionDurations;
  readonly oldAlarms: OldAlarms;
  readonly preUpgradeBackups: PreUpgradeBackupWatch;
  readonly #kept: ConditionDurations;
  readonly #steps: ConditionDurations;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#pods = new ConditionDurations(clock);
    this.#members = new ConditionDurations(clock);
    this.#contact = new ConditionDurations(clock);
    this.oldAlarms = new OldAlarms(clock);
    this.preUpgradeBackups = new PreUpgradeBackupWatch(clock);
    this.#kept = new ConditionDurations(clock);
    this.#steps = new ConditionDurations(clock);
  }

  /** The number of remembered clusters. */
  get size(): number {
    const all = [
      this.#pods,
      this.#members,
      this.#contact,
      this.oldAlarms,
      this.preUpgradeBackups,
      this.#kept,
      this.#steps,
    ];
    return Math.max(...all.map(({ size }) => size));
  }

  see(key: string, seen: Seen & Pick<ClusterWorld, 'memory'>): Seen & Pick<ClusterWorld, 'withoutQuorumMillis'> {
    const { memberPods, membership } = seen;
    const lasting = this.#pods.record(key, memberPods.flatMap(conditionsOf));
    const watched = memberPods.map((memberPod) => ({ ...memberPod, ...timesOf(memberPod, lasting) }));
    const hasLostQuorum = hasFormed(seen) && isWithoutQuorum(seen);
    const withoutQuorumMillis = this.#contact.record(key, hasLostQuorum ? ['quorum'] : []).get('quorum')?.millis;
    return { memberPods: watched, membership: this.#silences(key, { memberPods, membership }), withoutQuorumMillis };
  }

  /** How long each volume of a removed member has been kept. */
  seeKept(key: string, volumes: readonly string[]): ReadonlyMap<string, HeldDuration> {
    return this.#kept.record(key, volumes);
  }

  /** Starts the time of a kept volume again, because a pod mounts it. */
  restart(key: string, volume: string): void {
    this.#kept.restart(key, volume);
  }

  /** How many milliseconds every pass has taken steps. */
  seeSteps(key: string, isActing: boolean): number {
    return this.#steps.record(key, isActing ? ['acting'] : []).get('acting')?.millis ?? 0;
  }

  forget(key: string): void {
    this.#pods.forget(key);
    this.#members.forget(key);
    this.#contact.forget(key);
    this.oldAlarms.forget(key);
    this.preUpgradeBackups.forget(key);
    this.#kept.forget(key);
    this.#steps.forget(key);
  }

  #silences(key: string, { memberPods, membership }: Seen): Seen['membership'] {
    if (!membership.seen) {
      this.#members.skip(key);
      return membership;
    }
    const { members } = membership.value;
    const nameOf = (member: Member): string => identityOf(member, memberPods);
    const silent = this.#members.record(key, members.filter(({ health }) => health !== 'healthy').map(nameOf));
    const timed = members.map((member) => ({ ...member, silence: silent.get(nameOf(member)) }));
    return { seen: true, value: { ...membership.value, members: timed } };
  }
}

/** The time starts again for another pod, or for another image. */
const readinessOf = ({ uid, image, ready }: MemberPod): string => [ready ? 'ready' : 'unready', uid, image].join('/');
const stoppingOf = ({ uid }: MemberPod): string => `stopping/${uid}`;

const withdrawnOf = ({ uid }: MemberPod): string => `withdrawn/${uid}`;

const conditionsOf = (memberPod: MemberPod): readonly string[] => [
  readinessOf(memberPod),
  ...(memberPod.phase === 'stopping' ? [stoppingOf(memberPod)] : []),
  ...(memberPod.serves === false ? [withdrawnOf(memberPod)] : []),
];

function identityOf({ id, name }: Member, memberPods: readonly MemberPod[]): string {
  const memberPod = memberPods.find((each) => each.name === name);
  return [id, memberPod?.uid, memberPod?.image].join('/');
}

function timesOf(memberPod: MemberPod, lasting: ReadonlyMap<string, HeldDuration>): Partial<MemberPod> {
  const millis = lasting.get(readinessOf(memberPod))?.millis;
  const stoppingMillis = lasting.get(stoppingOf(memberPod))?.millis;
  const withdrawnMillis = lasting.get(withdrawnOf(memberPod))?.millis;
  return {
    ...(memberPod.ready ? { readyMillis: millis } : { unreadyMillis: millis }),
    stoppingMillis,
    withdrawnMillis,
  };
}
