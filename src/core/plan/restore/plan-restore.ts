import type { Agent, AgentReport } from '../../model/agent.ts';
import type { Body, RestoredCluster, RestoreWorld, Seed } from '../../model/restore.ts';
import { canLeapRevisions } from '../../model/version.ts';
import { cleanUp, forgetOld } from './clean-up.ts';
import { lostCluster, oldDataStays } from './lost-cluster.ts';
import { act, blocked, fail, type RestoreVerdict, wait } from './step.ts';

/** To look at an object takes a moment; to pull an image may take minutes. */
const provingSeconds = 900;
/** For how long agents are started again that somebody ends before they are done, or that find a store out of reach. */
const retrySeconds = 300;
/** From when the seed was made until it serves, with the download and the making of its data directory in between. */
const seedingSeconds = 3_600;
/** A seed that cannot start at all, because of its image for example, is not waited for that long. */
const brokenSeconds = 300;
/** What was restored may be out of reach for a moment while members are exchanged. */
const lostSeconds = 300;

/** What to do next for a restore. Until the seed serves, nothing that belongs to the cluster is touched. */
export function planRestore(world: RestoreWorld): RestoreVerdict {
  switch (world.memory.phase) {
    case 'proving':
      return prove(world);
    case 'seeding':
      return refused(world) ?? withCluster(world, seed);
    case 'switching':
      return lostCluster(world) ?? withCluster(world, makeRoom);
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

/** Of what has the name of a cluster that is to be made, nothing is touched. */
const refused = ({ taken }: RestoreWorld): RestoreVerdict | undefined =>
  taken === undefined ? undefined : fail(`nothing was touched: ${taken}`);

type Stage = (world: RestoreWorld, cluster: RestoredCluster) => RestoreVerdict;

function withCluster(world: RestoreWorld, stage: Stage): RestoreVerdict {
  if (typeof world.cluster !== 'string') return stage(world, world.cluster);
  const mustBeReadAgain = world.isUndescribed === true && world.proof === undefined;
  return mustBeReadAgain ? startProof(world) : blocked(world.cluster);
}

function prove(world: RestoreWorld): RestoreVerdict {
  const { proof } = world;
  const hindrance = refused(world) ?? hindranceTo(world);
  if (hindrance !== undefined) return hindrance;
  if (proof === undefined) return startProof(world);
  if (proof.state.is === 'ended') return heed(proof, proof.state.report, world);
  if (mayOverlap(world)) return startSeeding('looking at the backup, while a volume is made for it', world);
  const isLate = world.now - proof.createdAt > provingSeconds * 1000;
  return isLate ? fail('the backup could not be looked at in time') : wait(`pod ${proof.name} looks at the backup`);
}

function heed(proof: Agent, report: AgentReport, world: RestoreWorld): RestoreVerdict {
  const { ok, message } = report;
  if (saysNothing(report) && world.now - world.memory.since < retrySeconds * 1000)
    return act({ kind: 'discard-proof', proof }, `the backup is looked at again: ${message}`);
  if (!ok) return noGood(world, message);
  if (typeof world.cluster === 'string') return fail(world.cluster);
  return startSeeding('the backup is there', world);
}

/** Of the backup, that is: who was ended, or could not reach it. */
const saysNothing = ({ isCutShort, mayPass }: AgentReport): boolean => isCutShort === true || mayPass === true;

const startSeeding = (message: string, { spareName }: RestoreWorld): RestoreVerdict => ({
  ...{ is: 'enter', phase: 'seeding', message, seed: spareName },
});

/** Volumes take longer to be made than it takes to look at a backup: where nothing speaks against it, both happen at once. */
const mayOverlap = ({ cluster, isOnVolume }: RestoreWorld): boolean =>
  typeof cluster !== 'string' && isOnVolume !== true;

const noGood = (world: RestoreWorld, why: string): RestoreVerdict =>
  fail(`the backup cannot be used, and ${asBefore(world)}: ${why}`);

const startProof = ({ obstacle }: RestoreWorld): RestoreVerdict =>
  obstacle === undefined ? act({ kind: 'prove' }, 'looking at the backup') : blocked(obstacle);

/** What can be said before the backup is read. */
function hindranceTo(world: RestoreWorld): RestoreVerdict | undefined {
  const { cluster, isUndescribed = false } = world;
  if (typeof cluster !== 'string') return refusalOf(world, cluster);
  return isUndescribed ? undefined : blocked(cluster);
}

const asBefore = ({ intent: { cluster, into } }: RestoreWorld): string =>
  `EtcdCluster "${cluster}" was not ${into === 'new' ? 'made' : 'touched'}`;

function refusalOf({ intent }: RestoreWorld, { version }: RestoredCluster): RestoreVerdict | undefined {
  if (intent.revisionBump === undefined || canLeapRevisions(version)) return undefined;
  return fail(
    `revisions cannot leap in etcd ${version}: raise the version of the cluster to 3.5.10 or newer, or leave revisionBump out`,
  );
}

/** By who looks at it meanwhile. If that one could say nothing of it, the seed itself will. */
function seenToBeNoGood(world: RestoreWorld): RestoreVerdict | undefined {
  const { proof } = world;
  if (proof?.state.is !== 'ended') return undefined;
  const { report } = proof.state;
  return report.ok || saysNothing(report) ? undefined : noGood(world, report.message);
}

function seed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  const name = world.memory.seed ?? '';
  const found = cluster.seed;
  const early = takenForSeed(world, cluster) ?? served(found) ?? seenToBeNoGood(world);
  if (early !== undefined) return early;
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup`);
  return found.state === 'refused' ? noGood(world, found.why) : waitForSeed(found, world);
}

function served(found: Seed | undefined): RestoreVerdict | undefined {
  if (found?.state !== 'ready' || found.clusterId === undefined) return undefined;
  const { name, clusterId } = found;
  return { is: 'enter', phase: 'switching', message: `${name} serves what was restored`, clusterId };
}

/** Whoever has the name of the seed, and is another, must not be taken for it. */
function takenForSeed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return underAnotherName(name, world);
  if (cluster.seed === undefined || !isOfOld(cluster.seed, cluster)) return undefined;
  return fail(`member ${name} does not serve what was restored, and ${asBefore(world)}: delete it, and try again`);
}

/** Both the cluster and the restore take the lowest number that is free: whoever has it keeps it. */
const underAnotherName = (name: string, world: RestoreWorld): RestoreVerdict =>
  world.hasSeedVolume === true
    ? act({ kind: 'discard-seed', name }, `${name} is a member of the cluster: removing what was made under its name`)
    : startSeeding(`${name} is a member of the cluster: ${world.spareName} starts from the backup in its place`, world);

/** What is restored is a cluster of its own: whoever has the number of the old one has its data. */
const isOfOld = (found: Seed, { clusterId }: RestoredCluster): boolean =>
  found.isHandedOver || (clusterId !== undefined && found.clusterId === clusterId);

function waitForSeed({ state, why, progress, workedUntil = 0 }: Seed, world: RestoreWorld): RestoreVerdict {
  const { now, memory } = world;
  const isTooLong = state === 'broken' && now - Math.max(memory.since, workedUntil) > brokenSeconds * 1000;
  if (isTooLong || now - memory.since > seedingSeconds * 1000)
    return fail(`member ${memory.seed} did not start, and ${asBefore(world)}: ${why}`);
  return state === 'locked'
    ? blocked(`member ${memory.seed} serves what was restored, but does not let the operator in: ${why}`)
    : { is: 'wait', message: `member ${memory.seed} is not ready: ${why}`, progress };
}

/** The order is the policy: nobody else acts, then the old members go, and only then the seed takes their place. */
const makeRoom: Stage = (world, cluster) =>
  refused(world) ??
  takeHold(world, cluster) ??
  keepSeed(world, cluster) ??
  makePlace(cluster) ??
  takePlace(world, cluster);

function takeHold({ intent, isPinned }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  if (!isPinned) return act({ kind: 'pin' }, 'the restore is to stay until it is over');
  if (!cluster.isThere) return act({ kind: 'create-cluster' }, `making EtcdCluster "${intent.cluster}"`);
  if (cluster.holdAskedBy === undefined) return act({ kind: 'hold-cluster' }, 'asking the operator to stand aside');
  if (cluster.holdAskedBy !== intent.uid) return wait('another restore of the same cluster comes first');
  return cluster.heldBy === intent.uid ? undefined : wait('waiting for the operator to stand aside');
}

/** It may be evicted like any pod, and without a volume its data goes with it: then it is made from the backup again. */
function keepSeed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const { seed: found, oldPods } = cluster;
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return withoutName(name, world, oldPods);
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup again`);
  if (found.isHandedOver || found.state === 'ready') return undefined;
  if (found.state === 'stopping') return wait(`member ${name} was stopped, and is started again when it is gone`);
  return oldPods.some(isStaying) ? keepOld(found, world) : withoutOld(found);
}

/** It was lost, and somebody else has its name since. */
const withoutName = (name: string, world: RestoreWorld, old: readonly Body[]): RestoreVerdict =>
  old.some(isStaying)
    ? fail(`member ${name} was lost and another has its name, and ${asBefore(world)}: restore it again`)
    : blocked(`member ${name} was lost and another has its name: delete the pod and the volume of that name`);

const keepOld = ({ name, state, why }: Seed, world: RestoreWorld): RestoreVerdict =>
  state === 'refused' ? noGood(world, why) : wait(`member ${name} is not ready: ${why}`);

/** There is nobody to go back to. */
const withoutOld = ({ state, why }: Seed): RestoreVerdict | undefined =>
  state === 'refused' ? blocked(why) : undefined;

const isStaying = ({ isGoing }: Body): boolean => isGoing !== true;

/** Who cannot be stopped is not waited for: it knows nothing of the new cluster, and clients are not led to it any more. */
function makePlace({ oldPods, oldClaims }: RestoredCluster): RestoreVerdict | undefined {
  const staying = oldPods.filter(isStaying);
  if (staying.length > 0) return act({ kind: 'stop-pods', pods: staying }, 'stopping the old members');
  const leaving = oldPods.filter(({ isOverdue }) => isOverdue !== true).map(({ name }) => name);
  if (leaving.length > 0) return wait(`waiting until the old members have stopped: ${leaving.join(', ')}`);
  if (oldClaims.length === 0) return undefined;
  return act({ kind: 'set-aside', claims: oldClaims }, 'setting the data of the old members aside');
}

function takePlace({ memory }: RestoreWorld, { seed: found, clusterId }: RestoredCluster): RestoreVerdict {
  const name = memory.seed ?? '';
  if (found === undefined) return wait(`member ${name} is not there`);
  if (!found.isHandedOver) return act({ kind: 'hand-over', seed: found }, `${name} takes the place of the old members`);
  if (memory.clusterId !== undefined && clusterId !== memory.clusterId)
    return act(
      { kind: 'rewrite-memory', seed: name, clusterId: memory.clusterId, memberId: found.memberId },
      'noting the new id of the cluster',
    );
  return { is: 'enter', phase: 'growing', message: 'the cluster is what was restored' };
}

function grow({ now, intent, memory }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  if (cluster.holdAskedBy === intent.uid) return act({ kind: 'release-cluster' }, 'the operator may go on');
  if (cluster.clusterId !== memory.clusterId)
    return fail(
      `EtcdCluster "${intent.cluster}" was made or restored anew before it had its full size; ${oldDataStays}`,
    );
  if (cluster.isLost === true && now - memory.since > lostSeconds * 1000)
    return fail(
      `EtcdCluster "${intent.cluster}" lost what was restored before it had its full size: restore it again; ${oldDataStays}`,
    );
  if (cluster.isPaused === true)
    return blocked(`EtcdCluster "${intent.cluster}" is paused: clear spec.paused, so that it can grow to its size`);
  if (!cluster.isSettled) return waitForSize(cluster, intent.cluster);
  return { is: 'enter', phase: 'complete', message: 'the cluster serves at its full size' };
}

/** Whoever waits for the restore looks here, and not at the cluster. */
const waitForSize = ({ trouble }: RestoredCluster, name: string): RestoreVerdict =>
  trouble === undefined
    ? wait('waiting until the cluster has its full size')
    : blocked(`EtcdCluster "${name}" cannot grow to its size: ${trouble}`);
