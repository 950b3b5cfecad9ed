import type { ClusterWorld } from '../../model/cluster.ts';
import { type Rule, type Verdict, wait } from './step.ts';

/** Nobody is started who could not serve, or whom we could not ask. What is remembered can wait too: the spec may change. */
export const waitForSecrets: Rule = (world) =>
  world.memory.clusterId === undefined && !world.membership.seen ? causeInSecrets(world) : undefined;

/**
 * Members that run have read what they need, and are left alone. But nobody is added, and nobody stopped to be made
 * again, as long as a new body could not start. Where one can as yet, those who are missing are still replaced: a cluster
 * without disks would lose one member after the other.
 */
export const holdForSecrets: Rule = (world) => {
  const { membership, intent, startsWithoutSecrets = false } = world;
  const isShort = membership.seen && membership.value.members.length < intent.size;
  return startsWithoutSecrets && isShort ? undefined : causeInSecrets(world);
};

/** Nothing waits for it, and it is told all the same: the day that auth is switched on, nobody could be asked. */
export const tellUnneededSecret: Rule = ({ unneededSecret }) =>
  unneededSecret === undefined ? undefined : wait('SecretUnfit', unneededSecret);

export const causeInSecrets = ({ secretProblems }: ClusterWorld): Verdict | undefined =>
  secretProblems.length === 0 ? undefined : wait('SecretUnfit', secretProblems.join('; '));
