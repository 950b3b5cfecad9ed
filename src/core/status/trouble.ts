import { alarmsIn, sentenceOnAlarms } from '../model/alarms.ts';
import type { ClusterWorld } from '../model/cluster.ts';
import type { Verdict } from '../plan/cluster/step.ts';
import {
  contactLostAfterMillis,
  hasLostContact,
  isWithoutQuorum,
  mayServeUnheard,
  reportedAfterMillis,
  sentenceOnLostQuorum,
  sentenceOnUnreachable,
} from '../plan/cluster/unreachable.ts';
import type { Reason } from '../reasons.ts';

/** Something that is wrong with a cluster. */
export interface Finding {
  readonly reason: Reason;
  readonly message: string;
}

/** What is wrong with a cluster whatever is decided about it, paused or not; the worst first. */
export const findingsIn = (world: ClusterWorld): readonly Finding[] => [...alarms(world), ...unreachable(world)];

/** How many seconds it takes until the next of these is to be reported, if nothing changes meanwhile. */
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
  return raised.length === 0 ? [] : [{ reason: 'AlarmRaised', message: sentenceOnAlarms(raised) }];
}

function unreachable(world: ClusterWorld): readonly Finding[] {
  if (isWithoutQuorum(world))
    return hasLostContact(world) ? [{ reason: 'NoContact', message: sentenceOnLostQuorum(world) }] : [];
  const message = sentenceOnUnreachable(world);
  return message === undefined ? [] : [{ reason: 'MembersUnreachable', message }];
}

const troubles: ReadonlySet<Reason> = new Set([
  'QuorumLost',
  'WrongCluster',
  'MemberStuck',
  'SecretUnfit',
  'BadSpec',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'MissingRights',
  'VolumeStuck',
]);

/** All that is wrong, the worst first. What a verdict says of a matter takes the place of what is found in general. */
export function troublesOf(world: ClusterWorld, verdict: Verdict, failure: Error | undefined): readonly Finding[] {
  const decided = ofVerdict(world, verdict);
  const found = findingsIn(world).filter(({ reason }) => !isSaid(reason, decided));
  const failed: readonly Finding[] = failure === undefined ? [] : [{ reason: 'StepFailed', message: failure.message }];
  const isUrgent = verdict.is === 'wait' && verdict.needsPerson === true;
  const all = isUrgent ? [...decided, ...found, ...failed] : [...failed, ...inOrder(decided, found)];
  const { unneededSecret } = world;
  return unneededSecret === undefined ? all : [...all, { reason: 'SecretUnfit', message: unneededSecret }];
}

/** An alarm is worse than a member that is away or cannot start. */
const inOrder = (decided: readonly Finding[], found: readonly Finding[]): readonly Finding[] => [
  ...found.filter(({ reason }) => reason === 'AlarmRaised'),
  ...decided,
  ...found.filter(({ reason }) => reason !== 'AlarmRaised'),
];

/** Both say that no majority answers: the one that needs a person says more. */
const isSaid = (reason: Reason, decided: readonly Finding[]): boolean =>
  decided.some((each) => each.reason === reason || (reason === 'NoContact' && each.reason === 'QuorumLost'));

/** What blocks a cluster until a person acts is always reported; of all else, what no pass can mend by itself. */
function ofVerdict(world: ClusterWorld, verdict: Verdict): readonly Finding[] {
  if (verdict.is !== 'wait') return [];
  const { reason, message, needsPerson = false } = verdict;
  const isTold = needsPerson || troubles.has(reason) || (reason === 'NoContact' && isContactLost(world));
  return isTold ? [{ reason, message }] : [];
}

/** Bootstrap members that were ready a moment ago may only be slow to answer; a known cluster has been heard before. */
const isContactLost = (world: ClusterWorld): boolean => world.memory.clusterId !== undefined || hasLostContact(world);

/** Whether a majority has been down for so long that the cluster counts as failed. */
export const isDown = (world: ClusterWorld): boolean =>
  hasLostContact(world) && !mayServeUnheard(world) && (world.withoutQuorumMillis ?? 0) >= reportedAfterMillis;
