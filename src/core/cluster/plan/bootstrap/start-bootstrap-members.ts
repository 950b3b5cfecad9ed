import { type Bootstrap, type ClusterWorld, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import type { MemberName } from '../../model/names.ts';
import { causeOf } from '../cause.ts';
import { isAsDesired } from '../roll/outdated.ts';
import { act, type MemberStep, type Rule, type Verdict, wait } from '../step.ts';
import { hasFormedUnrecorded } from './has-formed.ts';

/**
 * Starts all bootstrap members at once, each with the full list: one after the other would cost five seconds per member
 * in etcd's own checks. Before the cluster has formed, a pod has no data. So a bootstrap member that cannot start is
 * recreated when the spec changes. Once the cluster has formed, no member bootstraps, even if the status does not
 * record it yet.
 */
export const startBootstrapMembers: Rule = (world) => {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined || hasFormedUnrecorded(world)) return undefined;

  const steps = bootstrap.members.flatMap((name) => stepFor(name, world));
  if (steps.length > 0) return act('Creating', `starting ${bootstrap.members.length} bootstrap members`, ...steps);

  return withRemedy(causeOf(world.memberPods), bootstrap, world.intent) ?? wait('Forming', waitingFor(bootstrap));
};

/** The list of bootstrap members never changes: a majority of them may already have formed the cluster. */
function withRemedy(cause: Verdict | undefined, { members }: Bootstrap, { size }: ClusterIntent): Verdict | undefined {
  if (cause?.is !== 'wait' || size >= members.length) return cause;
  const remedy = 'let them start, or delete and recreate the EtcdCluster';
  return {
    ...cause,
    message: `${cause.message}; all ${members.length} bootstrap members must start before scaling to ${size}: ${remedy}`,
  };
}

/** Members with data need a quorum of their old cluster, and its size is unknown here. */
function waitingFor({ members, onRetainedVolumes }: Bootstrap): string {
  if (onRetainedVolumes !== true) return 'waiting for the bootstrap members to form the cluster';
  return (
    `waiting for ${members.join(', ')} to start on retained PVCs; nothing else is changed. If these PVCs are fewer ` +
    'than a majority of the old cluster: delete the EtcdCluster and recreate it together with the other PVCs, or delete ' +
    'these PVCs as well and restore a backup'
  );
}

function stepFor(name: MemberName, world: ClusterWorld): readonly MemberStep[] {
  const memberPod = memberPodNamed(world, name);
  const { bootstrap } = world.memory;
  if (bootstrap === undefined) return [];
  if (memberPod === undefined || memberPod.phase === 'gone') {
    return [
      { kind: 'start-member-pod', name, join: { as: 'bootstrap', of: bootstrap }, version: world.intent.version },
    ];
  }
  return mustBeRecreated(memberPod, world.intent) ? [{ kind: 'stop-member-pod', name, uid: memberPod.uid }] : [];
}

function mustBeRecreated(memberPod: MemberPod, intent: ClusterIntent): boolean {
  const { phase, ready } = memberPod;
  return phase === 'ended' || (!isAsDesired(memberPod, intent.version, intent) && !ready && phase !== 'stopping');
}
