import { type Bootstrap, type ClusterWorld, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import type { MemberName } from '../../model/names.ts';
import { causeOf } from '../cause.ts';
import { isAsDesired } from '../roll/outdated.ts';
import { isUnreadyTooLong } from '../scale/start-joining-member.ts';
import { act, type MemberStep, type Rule, type Verdict, wait, waitForUser } from '../step.ts';
import { bootstrapVersion, heldVersion } from './bootstrap-version.ts';
import { hasFormedUnrecorded } from './has-formed.ts';

/**
 * Starts all bootstrap members at once, each with the full list: one after the other would cost five seconds per member
 * in etcd's own checks. A bootstrap member that cannot start is changed with the spec. Once the cluster has formed, no
 * member bootstraps, even if the status does not record it yet.
 */
export const startBootstrapMembers: Rule = (world) => {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined || hasFormedUnrecorded(world)) return undefined;

  const steps = bootstrap.members.flatMap((name) => stepFor(name, world));
  if (steps.length > 0) return act('Creating', `starting ${bootstrap.members.length} bootstrap members`, ...steps);

  const cause = causeOf(world.memberPods) ?? lostVolume(world);
  return withRemedy(cause, bootstrap, world) ?? wait('Forming', waitingFor(bootstrap, world));
};

/** Caches show a PVC later than its pod at times, so a PVC counts as lost after this time. */
const secondsUntilLost = 15;

/** A pod whose PVC has lost its volume never starts. Without data of others, a user decides to start again. */
function lostVolume({ memberPods }: ClusterWorld): Verdict | undefined {
  const lost = memberPods.find((each) => each.volume === 'lost' && isUnreadyTooLong(each, secondsUntilLost));
  if (lost === undefined) return undefined;
  const { name, claim } = lost;
  const message = `${name} cannot start: the volume of PersistentVolumeClaim ${claim} is lost; delete the PersistentVolumeClaim and pod ${name}, and ${name} starts on a new volume`;
  return waitForUser('MemberStuck', message);
}

/** The list of bootstrap members never changes: a majority of them may already have formed the cluster. */
function withRemedy(cause: Verdict | undefined, { members }: Bootstrap, world: ClusterWorld): Verdict | undefined {
  if (cause?.is !== 'wait') return cause;
  const { size, version } = world.intent;
  const held = heldVersion(world);
  const remedies = [
    held === undefined ? [] : `PVCs may hold data of etcd ${held}, so etcd ${version} cannot start: ${remedyFor(held)}`,
    size >= members.length
      ? []
      : `all ${members.length} bootstrap members must start before scaling to ${size}: let them start, or delete and ` +
        'recreate the EtcdCluster',
  ].flat();
  return { ...cause, message: [cause.message, ...remedies].join('; ') };
}

const remedyFor = (held: string): string =>
  `set spec.version to ${held} or another release of its minor, or delete the EtcdCluster and its PVCs and recreate it`;

/** Members with data need a quorum of their old cluster, and its size is unknown here. */
function waitingFor({ members, onRetainedVolumes }: Bootstrap, world: ClusterWorld): string {
  const held = heldVersion(world);
  const first = held === undefined ? '' : ` with etcd ${held}, before the change to ${world.intent.version}`;
  if (onRetainedVolumes !== true) return `waiting for the bootstrap members to form the cluster${first}`;
  return (
    `waiting for ${members.join(', ')} to start on retained PVCs${first}; nothing else is changed. If these PVCs are ` +
    'fewer than a majority of the old cluster: delete the EtcdCluster and recreate it together with the other PVCs, or ' +
    'delete these PVCs as well and restore a backup'
  );
}

function stepFor(name: MemberName, world: ClusterWorld): readonly MemberStep[] {
  const memberPod = memberPodNamed(world, name);
  const { bootstrap } = world.memory;
  if (bootstrap === undefined) return [];
  const version = bootstrapVersion(name, world);
  if (memberPod === undefined || memberPod.phase === 'gone')
    return [{ kind: 'start-member-pod', name, join: { as: 'bootstrap', of: bootstrap }, version }];
  return changeOf(memberPod, version, world.intent);
}

/**
 * Before the cluster has formed, a member on an emptyDir has no data and is recreated. A PVC keeps the version that may
 * have written its data, so a pod that has never run first gets the other version in place.
 */
function changeOf(memberPod: MemberPod, version: string, intent: ClusterIntent): readonly MemberStep[] {
  const { name, uid, phase, ready, volume, version: from } = memberPod;
  const stop: MemberStep = { kind: 'stop-member-pod', name, uid };
  if (phase === 'ended') return [stop];
  if (ready || phase === 'stopping' || isAsDesired(memberPod, version, intent)) return [];
  const hasOtherImage = memberPod.image !== intent.imageOf(version);
  return volume === 'own' && hasOtherImage ? [{ kind: 'change-image', name, uid, from, to: version }] : [stop];
}
