import type { CarrierName, ClusterWorld } from '../../model/cluster.ts';
import { quorumOf } from '../../quorum.ts';

/**
 * True if the bootstrap members have formed their cluster and the status does not say so yet: the operator was away, or cannot
 * reach etcd. A member that serves clients, or has told the others its client URL, does so only after it has formed or joined.
 */
export function hasFormedUnseen(world: ClusterWorld): boolean {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined) return false;
  return haveServed(world, bootstrap.members) || isListed(world);
}

/** The voters that are known without asking etcd. */
export const knownVoters = (world: ClusterWorld): readonly CarrierName[] =>
  hasFormedUnseen(world) ? (world.memory.bootstrap?.members ?? []) : world.memory.voters;

/** Where readiness means an open port only, a majority of open ports forms the cluster without any further member. */
function haveServed({ carriers }: ClusterWorld, members: readonly string[]): boolean {
  const bootstrapped = carriers.filter(({ name }) => members.includes(name));
  const ready = bootstrapped.filter((carrier) => carrier.ready || carrier.hasFallenUnready === true);
  return ready.some(({ listensOnly }) => listensOnly !== true) || ready.length >= quorumOf(members.length);
}

const isListed = ({ membership }: ClusterWorld): boolean =>
  !membership.seen && membership.rumour?.members.some(({ hasNeverServed }) => hasNeverServed === false) === true;
