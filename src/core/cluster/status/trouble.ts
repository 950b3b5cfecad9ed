import type { Reason } from '../../reasons.ts';
import { alarmMessage, alarmsIn } from '../model/alarms.ts';
import type { ClusterWorld } from '../model/cluster.ts';
import {
  contactLostAfterMillis,
  hasLostContact,
  isWithoutQuorum,
  lostQuorumMessage,
  mayServeUnreached,
  reportedAfterMillis,
  unreachableMessage,
} from '../plan/heal/unreachable.ts';
import type { Verdict } from '../plan/step.ts';

/** A problem of a cluster. */
export interface Finding {
  readonly reason: Reason;
  readonly message: string;
}

/** Problems that do not depend on the verdict, also of a paused cluster; the worst first. */
export const findingsIn = (world: ClusterWorld): readonly Finding[] => [...alarms(world), ...unreachable(world)];

/** Seconds until the next of these problems is reported, if nothing changes meanwhile. */
export function secondsUntilReport({ membership, withoutQuorumMillis }: ClusterWorld): number {
  const members = membership.seen ? membership.value.members : [];
  const ofMembers = members.flatMap(({ silence }) =>
    silence === undefined ? [] : [reportedAfterMillis - silence.millis],
  );
  const limits = withoutQuorumMillis === undefined ? [] : [contactLostAfterMillis, reportedAfterMillis];
  const ofContact = limits.map((after) => after - (withoutQuorumMillis ?? 0));
  return Math.min(...[...ofMembers, ...ofContact].filter((millis) => millis > 0)) / 1000;
}

function alarms(world: ClusterWorld): readonly Finding[] {
  const raised = alarmsIn(world);
  return raised.length === 0 ? [] : [{ reason: 'AlarmRaised', message: alarmMessage(raised) }];
}

function unreachable(world: ClusterWorld): readonly Finding[] {
  if (isWithoutQuorum(world))
    return hasLostContact(world) ? [{ reason: 'NoContact', message: lostQuorumMessage(world) }] : [];
  const message = unreachableMessage(world);
  return message === undefined ? [] : [{ reason: 'MembersUnreachable', message }];
}

const troubles: ReadonlySet<Reason> = new Set([
  'QuorumLost',
  'WrongCluster',
  'MemberStuck',
  'InvalidSecret',
  'BadSpec',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'MissingRights',
  'VolumeStuck',
]);

/** All problems, the worst first. The message of the verdict replaces a finding with the same reason. */
export function troublesOf(world: ClusterWorld, verdict: Verdict, failure: Error | undefined): readonly Finding[] {
  const decided = ofVerdict(world, verdict);
  const found = findingsIn(world).filter(({ reason }) => !isReportedBy(reason, decided));
  const failed: readonly Finding[] = failure === undefined ? [] : [{ reason: 'StepFailed', message: failure.message }];
  const isUrgent = verdict.is === 'wait' && verdict.needsUserAction === true;
  const all = isUrgent ? [...decided, ...found, ...failed] : [...failed, ...inOrder(decided, found)];
  const { unneededSecret } = world;
  return unneededSecret === undefined ? all : [...all, { reason: 'InvalidSecret', message: unneededSecret }];
}

/** An alarm is worse than a member that is unreachable or cannot start. */
const inOrder = (decided: readonly Finding[], found: readonly Finding[]): readonly Finding[] => [
  ...found.filter(({ reason }) => reason === 'AlarmRaised'),
  ...decided,
  ...found.filter(({ reason }) => reason !== 'AlarmRaised'),
];

/** True if the verdict reports the same problem. QuorumLost is a more specific NoContact. */
const isReportedBy = (reason: Reason, decided: readonly Finding[]): boolean =>
  decided.some((each) => each.reason === reason || (reason === 'NoContact' && each.reason === 'QuorumLost'));

/** Reports waits that need user action; drops transient waits. */
function ofVerdict(world: ClusterWorld, verdict: Verdict): readonly Finding[] {
  if (verdict.is !== 'wait') return [];
  const { reason, message, needsUserAction = false } = verdict;
  const isReported = needsUserAction || troubles.has(reason) || (reason === 'NoContact' && isContactLost(world));
  return isReported ? [{ reason, message }] : [];
}

/**
 * Bootstrap members may only be slow to answer at first, so a new cluster gets more time than a cluster that has
 * formed.
 */
const isContactLost = (world: ClusterWorld): boolean => world.memory.clusterId !== undefined || hasLostContact(world);

/** True if a majority has been down for long enough to count as a failure of the cluster. */
export const isDown = (world: ClusterWorld): boolean =>
  hasLostContact(world) && !mayServeUnreached(world) && (world.withoutQuorumMillis ?? 0) >= reportedAfterMillis;
