import { type ClusterWorld, isInherited } from '../../model/cluster.ts';
import type { CarrierName } from '../../model/names.ts';
import { quorumOf } from '../../quorum.ts';

/** What shows whether a cluster has formed. */
type Formation = Pick<ClusterWorld, 'memory' | 'carriers' | 'membership'>;

/**
 * True if the bootstrap members have formed their cluster and the status does not say so yet: the operator was away, or cannot
 * reach etcd. A member that serves clients, or has told the others its client URL, does so only after it has formed or joined.
 */
export function hasFormedUnseen(world: Formation): boolean {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined) return false;
  return haveServed(world, bootstrap.members) || isListed(world);
}

/** Whether there is a cluster that can be out of reach, as far as anything shows it. */
export const hasFormed = (world: Formation): boolean =>
  world.memory.clusterId !== undefined || world.membership.seen || hasFormedUnseen(world) || isInherited(world.memory);

/** The voters that are known without asking etcd. */
export const knownVoters = (world: Formation): readonly CarrierName[] =>
  hasFormedUnseen(world) ? (world.memory.bootstrap?.members ?? []) : world.memory.voters;

/** Where readiness means an open port only, a majority of open ports forms the cluster without any further member. */
function haveServed({ carriers }: Formation, members: readonly string[]): boolean {
  const bootstrapped = carriers.filter(({ name }) => members.includes(name));
  const ready = bootstrapped.filter((carrier) => carrier.ready || carrier.hasFallenUnready === true);
  return ready.some(({ listensOnly }) => listensOnly !== true) || ready.length >= quorumOf(members.length);
}

const isListed = ({ membership }: Formation): boolean =>
  !membership.seen && membership.rumour?.members.some(({ hasNeverServed }) => hasNeverServed === false) === true;
