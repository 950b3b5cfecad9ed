import type { ClusterWorld, KnownWorld } from '../../model/cluster.ts';
import { type Rule, type Verdict, wait } from '../step.ts';

/** Before the cluster has formed: starts and records nothing until all Secrets are valid. */
export const waitForSecrets: Rule = (world) =>
  world.memory.clusterId === undefined && !world.membership.seen ? causeInSecrets(world) : undefined;

/**
 * Running members have read their Secrets and keep running. While a Secret is invalid, a new pod could not start, so no
 * member is added or restarted. If new pods can still start without the Secrets, missing members are replaced: a
 * cluster without PVCs would otherwise lose one member after the other.
 */
export const holdForSecrets: Rule<KnownWorld> = (world) => {
  const { membership, intent, startsWithoutSecrets = false } = world;
  const isShort = membership.value.members.length < intent.size;
  return startsWithoutSecrets && isShort ? undefined : causeInSecrets(world);
};

/** Blocks nothing. Without a valid Secret the operator could not reach etcd once auth is switched on. */
export const reportUnneededSecret: Rule<KnownWorld> = ({ unneededSecret }) =>
  unneededSecret === undefined ? undefined : wait('InvalidSecret', unneededSecret);

export const causeInSecrets = ({ secretProblems }: ClusterWorld): Verdict | undefined =>
  secretProblems.length === 0 ? undefined : wait('InvalidSecret', secretProblems.join('; '));
