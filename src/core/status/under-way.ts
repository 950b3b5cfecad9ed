import type { ClusterWorld, Member } from '../model/cluster.ts';
import { isOlder, isSameVersion } from '../model/version.ts';
import { hasFormed } from '../plan/cluster/formed-unseen.ts';
import type { Verdict } from '../plan/cluster/step.ts';
import { hasLostContact } from '../plan/cluster/unreachable.ts';
import { votersOf } from '../quorum.ts';
import type { Reason } from '../reasons.ts';

/** How the number of members is changing, in the numbers of the spec. */
export interface Scaling {
  readonly direction: 'up' | 'down';
  readonly from: number;
  readonly to: number;
}

/** The version that members are being moved to, and whether it is older than what they ran. */
export interface Upgrade {
  readonly to: string;
  readonly isDowngrade: boolean;
}

/** Nothing happens until a user changes the spec or what it names. */
const blocked: ReadonlySet<Reason> = new Set([
  'Paused',
  'BadSpec',
  'SecretUnfit',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'QuorumLost',
  'WrongCluster',
  'MissingRights',
]);

/** Whether the operator is changing something, or waits for something that it has begun. */
export function isUnderWay(world: ClusterWorld, verdict: Verdict): boolean {
  if (verdict.is !== 'wait') return verdict.is === 'act';
  if (verdict.needsPerson === true || blocked.has(verdict.reason)) return false;
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

/** Members are counted once they vote: a member that replaces another makes a cluster no larger. */
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

/** Set from the first member that was given another version until the last one runs it, as long as it goes on. */
export function upgradeOf(world: ClusterWorld, verdict: Verdict, path: readonly string[]): Upgrade | undefined {
  if (verdict.is === 'settled' || !isUnderWay(world, verdict) || !hasFormed(world)) return undefined;
  const isNext = path.length > 0 && rolling.has(verdict.reason);
  if (!isNext && !isMidway(world)) return undefined;
  const { version: to } = world.intent;
  return { to, isDowngrade: versionsIn(world).some((version) => isOlder(to, version)) };
}

/** Whether a member runs, or was given, another version than all ran before. */
function isMidway(world: ClusterWorld): boolean {
  const { version: before } = world.memory;
  return before !== undefined && versionsIn(world).some((version) => !isSameVersion(version, before));
}

/** All versions that members run, were given, or ran when they last ran the same. */
function versionsIn({ memory, membership, carriers }: ClusterWorld): readonly string[] {
  const members: readonly Member[] = membership.seen ? membership.value.members : [];
  return [memory, ...members, ...carriers].flatMap(({ version }) => version || []);
}
