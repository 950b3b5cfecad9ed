import { quorumOf } from '../../../quorum.ts';
import { type ClusterWorld, isInherited } from '../../model/cluster.ts';
import type { MemberName } from '../../model/names.ts';

/** The evidence that a cluster has formed. */
type Formation = Pick<ClusterWorld, 'memory' | 'memberPods' | 'membership'>;

/**
 * True if the bootstrap members have formed their cluster and the status does not record it yet, because the operator
 * was down or cannot reach etcd. A member serves clients and publishes its client URL only after it has formed or
 * joined.
 */
export function hasFormedUnrecorded(world: Formation): boolean {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined) return false;
  return haveServed(world, bootstrap.members) || isListed(world);
}

/** True if any evidence shows that the cluster has formed. */
export const hasFormed = (world: Formation): boolean =>
  world.memory.clusterId !== undefined ||
  world.membership.seen ||
  hasFormedUnrecorded(world) ||
  isInherited(world.memory);

/** The voters that are known without an answer from etcd. */
export const knownVoters = (world: Formation): readonly MemberName[] =>
  hasFormedUnrecorded(world) ? (world.memory.bootstrap?.members ?? []) : world.memory.voters;

/** If readiness means an open port only, a majority of ready pods counts: these members can have formed the cluster. */
function haveServed({ memberPods }: Formation, members: readonly string[]): boolean {
  const bootstrapped = memberPods.filter(({ name }) => members.includes(name));
  const ready = bootstrapped.filter((memberPod) => memberPod.ready || memberPod.hasBeenReady === true);
  return ready.some(({ listensOnly }) => listensOnly !== true) || ready.length >= quorumOf(members.length);
}

const isListed = ({ membership }: Formation): boolean =>
  !membership.seen && membership.unconfirmed?.members.some(({ hasNeverServed }) => hasNeverServed === false) === true;
