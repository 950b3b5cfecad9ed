import { votersOf } from '../../quorum.ts';
import type { Reason } from '../../reasons.ts';
import type { ClusterWorld, Member } from '../model/cluster.ts';
import { isOlder, isSameVersion } from '../model/version.ts';
import { hasFormed } from '../plan/bootstrap/has-formed.ts';
import { hasLostContact } from '../plan/heal/unreachable.ts';
import type { Verdict } from '../plan/step.ts';

/** A change of the number of members. */
export interface Scaling {
  readonly direction: 'up' | 'down';
  readonly from: number;
  readonly to: number;
}

/** A change of the version of members. */
export interface Upgrade {
  readonly to: string;
  readonly isDowngrade: boolean;
}

/** With these reasons nothing happens until the user changes the spec or an object that it names. */
const blocked: ReadonlySet<Reason> = new Set([
  'Paused',
  'BadSpec',
  'InvalidSecret',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'QuorumLost',
  'WrongCluster',
  'MissingRights',
]);

/** True if the operator is changing something, or waits for the end of a change. */
export function isUnderWay(world: ClusterWorld, verdict: Verdict): boolean {
  if (verdict.is !== 'wait') return verdict.is === 'act';
  if (verdict.needsUserAction === true || blocked.has(verdict.reason)) return false;
  return !hasLostContact(world);
}

const creating: ReadonlySet<Reason> = new Set(['Creating', 'Forming', 'Formed']);
const growing: ReadonlySet<Reason> = new Set(['ScalingUp', 'MemberStarting']);

export function scalingOf(world: ClusterWorld, verdict: Verdict): Scaling | undefined {
  if (verdict.is === 'settled' || !isUnderWay(world, verdict)) return undefined;
  const { intent, membership, memory } = world;
  const isFirst = creating.has(verdict.reason) && memory.clusterId === undefined;
  if (isFirst) return { direction: 'up', from: 0, to: intent.size };
  return membership.seen ? resizing(membership.value.members, intent.size, verdict) : undefined;
}

/** Counts voters only: a member that replaces another does not make the cluster larger. */
function resizing(
  members: readonly Member[],
  to: number,
  { is, reason }: Exclude<Verdict, { readonly is: 'settled' }>,
): Scaling | undefined {
  const voters = votersOf(members).length;
  if (growing.has(reason) && voters < to) return { direction: 'up', from: voters, to };
  const isShrinking = is === 'act' && reason === 'ScalingDown' && members.length > to;
  return isShrinking ? { direction: 'down', from: members.length, to } : undefined;
}

const rolling: ReadonlySet<Reason> = new Set(['Upgrading', 'Rolling']);

/** Set from the first change of a member's version until the last member runs it, while the upgrade is not blocked. */
export function upgradeOf(world: ClusterWorld, verdict: Verdict, path: readonly string[]): Upgrade | undefined {
  if (verdict.is === 'settled' || !isUnderWay(world, verdict) || !hasFormed(world)) return undefined;
  const isNext = path.length > 0 && rolling.has(verdict.reason);
  if (!isNext && !isMidway(world)) return undefined;
  const { version: to } = world.intent;
  return { to, isDowngrade: versionsIn(world).some((version) => isOlder(to, version)) };
}

/** True if a member or its pod has another version than all members ran before. */
function isMidway(world: ClusterWorld): boolean {
  const { version: before } = world.memory;
  return before !== undefined && versionsIn(world).some((version) => !isSameVersion(version, before));
}

/** The versions of members, of their pods, and the last version that all members ran. */
function versionsIn({ memory, membership, memberPods }: ClusterWorld): readonly string[] {
  const members: readonly Member[] = membership.seen ? membership.value.members : [];
  return [memory, ...members, ...memberPods].flatMap(({ version }) => version || []);
}
