import type { ClusterWorld, KnownWorld } from '../model/cluster.ts';
import { adoptCluster } from './bootstrap/adopt.ts';
import { forbidRebootstrap } from './bootstrap/forbid-rebootstrap.ts';
import { recordBootstrap } from './bootstrap/record-bootstrap.ts';
import { recordFormation } from './bootstrap/record-formation.ts';
import { startBootstrapMembers } from './bootstrap/start-bootstrap-members.ts';
import { correctUnhealthy } from './heal/correct-unhealthy.ts';
import { correctUnreachable } from './heal/correct-unreachable.ts';
import { deleteOrphans } from './heal/delete-orphans.ts';
import { replaceDeadMember } from './heal/replace-dead-member.ts';
import { replaceExpiredCertificates } from './heal/replace-expired-certificates.ts';
import { restartOnOwnVolume } from './heal/restart-on-own-volume.ts';
import { announceClientMigration } from './roll/announce-client-migration.ts';
import { backUpBeforeUpgrade } from './roll/pre-upgrade-backup.ts';
import { dropSecrets, issueDueCertificates, stageCertificates, waitForCertificates } from './roll/roll-certificates.ts';
import { rollOne } from './roll/roll-one.ts';
import { waitForTurn } from './roll/wait-for-turn.ts';
import { deleteRemovedVolumes } from './scale/delete-removed-volumes.ts';
import { growByOne } from './scale/grow-by-one.ts';
import { promoteLearner } from './scale/promote-learner.ts';
import { prepareSecondVoter } from './scale/second-voter.ts';
import { shrinkByOne } from './scale/shrink-by-one.ts';
import { startJoiningMember, startUnconfirmedMember } from './scale/start-joining-member.ts';
import type { Rule, Verdict } from './step.ts';
import { holdWhileCorrupt } from './wait/hold-while-corrupt.ts';
import { honourPause } from './wait/honour-pause.ts';
import { waitForAlarms } from './wait/wait-for-alarms.ts';
import { hasContact, waitForContact } from './wait/wait-for-contact.ts';
import { waitForPermissions } from './wait/wait-for-permissions.ts';
import { holdForSecrets, reportUnneededSecret, waitForSecrets } from './wait/wait-for-secrets.ts';
import { waitForUnhealthy } from './wait/wait-for-unhealthy.ts';
import { waitForVolumes } from './wait/wait-for-volumes.ts';
import { waitOnAmbiguousVolumes } from './wait/wait-on-ambiguous-volumes.ts';

// The order is the policy: the first rule with a verdict wins. A pass therefore takes at most one disruptive step, and
// every rule can rely on the rules above it.

/** These rules treat an unreachable etcd as unknown, never as empty: they remove nothing. */
const rulesBeforeContact: readonly Rule[] = [
  // Waits while spec.paused is set or a restore holds the cluster.
  honourPause,
  // Waits if the operator may not read the ReplicaSets of a cluster that another operator created.
  waitForPermissions,
  // Waits if PVCs of several etcd clusters have names of this cluster's members.
  waitOnAmbiguousVolumes,
  // Issues CAs and certificates that are missing or due for renewal.
  issueDueCertificates,
  // Moves new certificates into the member Secret, one stage at a time.
  stageCertificates,
  // Before the cluster has formed: waits for the Secrets that the spec names.
  waitForSecrets,
  // New cluster: records its bootstrap members before the first pod is created.
  recordBootstrap,
  // Adopts the pods of a running cluster that another operator created.
  adoptCluster,
  // Records the cluster ID once a majority answers.
  recordFormation,
  // Starts all bootstrap members at once.
  startBootstrapMembers,
  // From here on the cluster has formed, and no member bootstraps a new one.

  // Restarts members without a pod on their own PVC.
  restartOnOwnVolume,
  // Without quorum: starts a member that was added and has never run.
  startUnconfirmedMember,
  // Restarts members with expired certificates, so that they trust the new CA.
  replaceExpiredCertificates,
  // Without quorum: applies a corrected spec to member pods that cannot start.
  correctUnreachable,
];

/** For these rules membership is known, and a majority is healthy. */
const rulesInContact: readonly Rule<KnownWorld>[] = [
  // Forbids re-bootstrap for members that have joined.
  forbidRebootstrap,
  // Stops all changes while the alarm CORRUPT is raised.
  holdWhileCorrupt,
  // From here on all members have the same data.

  // Deletes pods of names that are not in etcd's member list.
  deleteOrphans,
  // Removes one member if there are more than the spec asks for.
  shrinkByOne,
  // Starts the pod of a member that was added.
  startJoiningMember,
  // Removes a member that has lost its data or has been unreachable for too long.
  replaceDeadMember,
  // Applies the spec to an unhealthy member first.
  correctUnhealthy,
  // Promotes a learner that has caught up with the leader.
  promoteLearner,
  // Waits until every member is healthy.
  waitForUnhealthy,
  // From here on every member is a healthy voter.

  // Waits for the Secrets that the spec names.
  holdForSecrets,
  // From here on a new pod can start.

  // Before etcd 3.4: starts the pod of the second voter before etcd adds the member.
  prepareSecondVoter,
  // Adds one member if there are fewer than the spec asks for.
  growByOne,
  // Starts no upgrade while an alarm is raised.
  waitForAlarms,
  // Waits while too many other clusters roll.
  waitForTurn,
  // Makes the backup that the spec requires before another minor.
  backUpBeforeUpgrade,
  // Reports a change of client TLS in the status before the first member changes.
  announceClientMigration,
  // Applies the spec to the next outdated member.
  rollOne,
  // Waits until every member serves its new certificate.
  waitForCertificates,
  // Deletes Secrets of ours after TLS was switched off.
  dropSecrets,
  // Deletes PVCs of removed members after their grace time.
  deleteRemovedVolumes,
  // Reports PVCs that are still being resized.
  waitForVolumes,
  // Reports a problem with the Secret of the etcd user while auth is off.
  reportUnneededSecret,
];

export function planCluster(world: ClusterWorld): Verdict {
  const verdict = firstVerdict(rulesBeforeContact, world);
  if (verdict !== undefined) return verdict;
  if (!hasContact(world)) return waitForContact(world);
  return firstVerdict(rulesInContact, world) ?? { is: 'settled' };
}

function firstVerdict<World extends ClusterWorld>(rules: readonly Rule<World>[], world: World): Verdict | undefined {
  for (const rule of rules) {
    const verdict = rule(world);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
