import type { Agent, AgentReport } from '../backup/agent.ts';
import { canLeapRevisions } from '../cluster/model/version.ts';
import { keepCertificates } from './certificates.ts';
import { cleanUp, forgetOld } from './clean-up.ts';
import { lostCluster, oldDataStays } from './lost-cluster.ts';
import type { ObjectRef, RestoredCluster, RestoreWorld, Seed } from './model.ts';
import { act, blocked, fail, type RestoreVerdict, wait } from './step.ts';
import { keepStoreProxy } from './store-proxy.ts';

/** Time limit of the backup check. The check itself is short; an image pull may take minutes. */
const provingSeconds = 900;
/** For this time the check is retried after an interruption or with an unreachable store. */
const retrySeconds = 300;
/** Time limit for the start of the seed, with the download and the creation of its data directory. */
const seedingSeconds = 3_600;
/** A seed that cannot start at all, for example because of its image, fails sooner. */
const brokenSeconds = 300;
/** The restored cluster may be unreachable shortly while members are replaced. */
const lostSeconds = 300;

/**
 * The next action for a restore. Certificates and the store proxy come before the step that needs them. Until the seed
 * serves, no object of the cluster is touched.
 */
export function planRestore(world: RestoreWorld): RestoreVerdict {
  const verdict = planPhase(world);
  return keepCertificates(verdict, world) ?? keepStoreProxy(verdict, world) ?? verdict;
}

function planPhase(world: RestoreWorld): RestoreVerdict {
  switch (world.memory.phase) {
    case 'proving':
      return prove(world);
    case 'seeding':
      return refused(world) ?? withCluster(world, seed);
    case 'switching':
      return lostCluster(world) ?? withCluster(world, replaceOldMembers);
    case 'growing':
      return lostCluster(world) ?? withCluster(world, grow);
    case 'failed':
      return cleanUp(world);
    case 'complete':
      return forgetOld(world);
    default:
      return world.memory.phase satisfies never;
  }
}

/** Fails the restore if the name of the new cluster is taken. Nothing has been changed then. */
const refused = ({ nameConflict }: RestoreWorld): RestoreVerdict | undefined =>
  nameConflict === undefined ? undefined : fail(`nothing was changed: ${nameConflict}`);

type Stage = (world: RestoreWorld, cluster: RestoredCluster) => RestoreVerdict;

function withCluster(world: RestoreWorld, stage: Stage): RestoreVerdict {
  if (typeof world.cluster !== 'string') return stage(world, world.cluster);
  const mustBeReadAgain = world.isUndescribed === true && world.proof === undefined;
  return mustBeReadAgain ? startProof(world) : blocked(world.cluster);
}

function prove(world: RestoreWorld): RestoreVerdict {
  const { proof } = world;
  const obstacle = refused(world) ?? obstacleTo(world);
  if (obstacle !== undefined) return obstacle;
  if (proof === undefined) return startProof(world);
  if (proof.state.is === 'ended') return judgeReport(proof, proof.state.report, world);
  if (mayOverlap(world))
    return startSeeding('checking the backup while the volume of the seed member is provisioned', world);
  const isLate = world.now - proof.createdAt > provingSeconds * 1000;
  return isLate
    ? fail(`the check of the backup did not finish within ${provingSeconds} s`)
    : wait(`pod ${proof.name} checks the backup`);
}

function judgeReport(proof: Agent, report: AgentReport, world: RestoreWorld): RestoreVerdict {
  const { ok, message } = report;
  if (isInconclusive(report) && world.now - world.memory.since < retrySeconds * 1000)
    return act({ kind: 'discard-proof', proof }, `checking the backup again: ${message}`);
  if (!ok) return failInvalid(world, message);
  if (typeof world.cluster === 'string') return fail(world.cluster);
  return startSeeding('the backup exists', world);
}

/** True if the report is inconclusive: the agent was interrupted or could not reach the store. */
const isInconclusive = ({ wasInterrupted, mayPass }: AgentReport): boolean =>
  wasInterrupted === true || mayPass === true;

const startSeeding = (message: string, { spareName }: RestoreWorld): RestoreVerdict => ({
  is: 'enter',
  phase: 'seeding',
  message,
  seed: spareName,
});

/** Provisioning a volume takes longer than the check of the backup, so both run at once if possible. */
const mayOverlap = ({ cluster, isOnVolume }: RestoreWorld): boolean =>
  typeof cluster !== 'string' && isOnVolume !== true;

const failInvalid = (world: RestoreWorld, why: string): RestoreVerdict =>
  fail(`the backup cannot be used, and ${unchangedCluster(world)}: ${why}`);

const startProof = ({ obstacle }: RestoreWorld): RestoreVerdict =>
  obstacle === undefined ? act({ kind: 'prove' }, 'checking the backup') : blocked(obstacle);

/** Obstacles that are known before the backup is read. */
function obstacleTo(world: RestoreWorld): RestoreVerdict | undefined {
  const { cluster, isUndescribed = false } = world;
  if (typeof cluster !== 'string') return refusalOf(world, cluster);
  return isUndescribed ? undefined : blocked(cluster);
}

const unchangedCluster = ({ intent: { cluster, into } }: RestoreWorld): string =>
  `EtcdCluster "${cluster}" was not ${into === 'new' ? 'created' : 'changed'}`;

function refusalOf({ intent }: RestoreWorld, { version }: RestoredCluster): RestoreVerdict | undefined {
  if (intent.revisionBump === undefined || canLeapRevisions(version)) return undefined;
  return fail(
    `etcd ${version} does not support revisionBump: upgrade the cluster to 3.5.10 or newer, or remove revisionBump`,
  );
}

/** Fails if the parallel check finds the backup invalid. After an inconclusive check, the seed verifies the backup. */
function invalidByCheck(world: RestoreWorld): RestoreVerdict | undefined {
  const { proof } = world;
  if (proof?.state.is !== 'ended') return undefined;
  const { report } = proof.state;
  return report.ok || isInconclusive(report) ? undefined : failInvalid(world, report.message);
}

function seed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  const name = world.memory.seed ?? '';
  const found = cluster.seed;
  const early = seedNameConflict(world, cluster) ?? served(found) ?? invalidByCheck(world);
  if (early !== undefined) return early;
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup`);
  return found.state === 'refused' ? failInvalid(world, found.why) : waitForSeed(found, world);
}

function served(found: Seed | undefined): RestoreVerdict | undefined {
  if (found?.state !== 'ready' || found.clusterId === undefined) return undefined;
  const { name, clusterId } = found;
  return { is: 'enter', phase: 'switching', message: `seed member ${name} serves the restored data`, clusterId };
}

/** An object with the name of the seed that is not the seed must not be taken for it. */
function seedNameConflict(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return withAnotherName(name, world);
  if (cluster.seed === undefined || !hasOldData(cluster.seed, cluster)) return undefined;
  return fail(
    `member ${name} does not serve the restored data, and ${unchangedCluster(world)}: delete it and restore again`,
  );
}

/** The cluster and the restore both use the lowest free number. The first user of a number keeps it. */
const withAnotherName = (name: string, world: RestoreWorld): RestoreVerdict =>
  world.hasSeedVolume === true
    ? act({ kind: 'discard-seed', name }, `name ${name} is in use by a member: deleting the seed of that name`)
    : startSeeding(`name ${name} is in use by a member: the seed member is ${world.spareName} instead`, world);

/** The restored etcd cluster has a new cluster ID. A member with the old cluster ID has the old data. */
const hasOldData = (found: Seed, { clusterId }: RestoredCluster): boolean =>
  found.isHandedOver || (clusterId !== undefined && found.clusterId === clusterId);

function waitForSeed({ state, why, progress, workedUntil = 0 }: Seed, world: RestoreWorld): RestoreVerdict {
  const { now, memory } = world;
  const isTooLong = state === 'broken' && now - Math.max(memory.since, workedUntil) > brokenSeconds * 1000;
  if (isTooLong || now - memory.since > seedingSeconds * 1000)
    return fail(`seed member ${memory.seed} did not start, and ${unchangedCluster(world)}: ${why}`);
  return state === 'locked'
    ? blocked(`seed member ${memory.seed} serves the restored data, but refuses the operator: ${why}`)
    : { is: 'wait', message: `seed member ${memory.seed} is not ready: ${why}`, progress };
}

/** The order is the policy: hold the cluster, then stop the old members, and only then hand over to the seed. */
const replaceOldMembers: Stage = (world, cluster) =>
  refused(world) ??
  holdCluster(world, cluster) ??
  keepSeed(world, cluster) ??
  stopOldMembers(cluster) ??
  handOverToSeed(world, cluster);

function holdCluster({ intent, isPinned }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  if (!isPinned) return act({ kind: 'pin' }, 'adding a finalizer to the EtcdRestore');
  if (!cluster.isThere) return act({ kind: 'create-cluster' }, `creating EtcdCluster "${intent.cluster}"`);
  if (cluster.holdAskedBy === undefined) return act({ kind: 'hold-cluster' }, 'pausing the cluster controller');
  if (cluster.holdAskedBy !== intent.uid) return wait('waiting for another restore of the same cluster');
  return cluster.heldBy === intent.uid ? undefined : wait('waiting for the cluster controller to pause');
}

/** The seed can be evicted like any pod. Without a PVC its data is lost, and it is restored from the backup again. */
function keepSeed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const { seed: found, oldPods } = cluster;
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return seedNameLost(name, world, oldPods);
  if (found === undefined)
    return act({ kind: 'start-seed', name }, `starting seed member ${name} from the backup again`);
  if (found.isHandedOver || found.state === 'ready') return undefined;
  if (found.state === 'stopping')
    return wait(`seed member ${name} was stopped, and is restarted once its pod is deleted`);
  return oldPods.some(isStaying) ? whileOldMembersRun(found, world) : afterOldMembersStopped(found);
}

/** The seed was lost, and another object has its name. */
const seedNameLost = (name: string, world: RestoreWorld, old: readonly ObjectRef[]): RestoreVerdict =>
  old.some(isStaying)
    ? fail(`seed member ${name} was lost and its name is taken, and ${unchangedCluster(world)}: restore again`)
    : blocked(`seed member ${name} was lost and its name is taken: delete the pod and the PVC of that name`);

const whileOldMembersRun = ({ name, state, why }: Seed, world: RestoreWorld): RestoreVerdict =>
  state === 'refused' ? failInvalid(world, why) : wait(`seed member ${name} is not ready: ${why}`);

/** The old members are stopped, so the restore cannot fail back to them. */
const afterOldMembersStopped = ({ state, why }: Seed): RestoreVerdict | undefined =>
  state === 'refused' ? blocked(why) : undefined;

const isStaying = ({ isTerminating }: ObjectRef): boolean => isTerminating !== true;

/** An old pod on a lost node is not waited for: it cannot join the new cluster, and the Service does not select it. */
function stopOldMembers({ oldPods, oldClaims }: RestoredCluster): RestoreVerdict | undefined {
  const staying = oldPods.filter(isStaying);
  if (staying.length > 0) return act({ kind: 'stop-pods', pods: staying }, 'stopping the old members');
  const leaving = oldPods.filter(({ isOverdue }) => isOverdue !== true).map(({ name }) => name);
  if (leaving.length > 0) return wait(`waiting for old members to stop: ${leaving.join(', ')}`);
  if (oldClaims.length === 0) return undefined;
  return act({ kind: 'set-aside', claims: oldClaims }, 'setting aside the PVCs of the old members');
}

function handOverToSeed({ memory }: RestoreWorld, { seed: found, clusterId }: RestoredCluster): RestoreVerdict {
  const name = memory.seed ?? '';
  if (found === undefined) return wait(`waiting for seed member ${name} to exist`);
  if (!found.isHandedOver)
    return act({ kind: 'hand-over', seed: found }, `seed member ${name} replaces the old members`);
  if (memory.clusterId !== undefined && clusterId !== memory.clusterId)
    return act(
      { kind: 'rewrite-memory', seed: name, clusterId: memory.clusterId, memberId: found.memberId },
      'recording the new cluster ID',
    );
  return { is: 'enter', phase: 'growing', message: 'the cluster serves the restored data' };
}

function grow({ now, intent, memory }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  if (cluster.holdAskedBy === intent.uid) return act({ kind: 'release-cluster' }, 'releasing the cluster');
  if (cluster.clusterId !== memory.clusterId)
    return fail(
      `EtcdCluster "${intent.cluster}" was recreated or restored again before it had its full size; ${oldDataStays}`,
    );
  if (cluster.isLost === true && now - memory.since > lostSeconds * 1000)
    return fail(
      `EtcdCluster "${intent.cluster}" lost the restored data before it had its full size: restore again; ${oldDataStays}`,
    );
  if (cluster.isPaused === true)
    return blocked(`EtcdCluster "${intent.cluster}" is paused: clear spec.paused to let it grow to its full size`);
  if (!cluster.isSettled) return waitForSize(cluster, intent.cluster);
  return { is: 'enter', phase: 'complete', message: 'the cluster serves at its full size' };
}

/** Repeats the problem of the cluster in the status of the restore. */
const waitForSize = ({ trouble }: RestoredCluster, name: string): RestoreVerdict =>
  trouble === undefined
    ? wait('waiting for the cluster to reach its full size')
    : blocked(`EtcdCluster "${name}" cannot grow to its full size: ${trouble}`);
