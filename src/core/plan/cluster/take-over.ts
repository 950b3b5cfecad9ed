import { type ClusterWorld, isOurs } from '../../model/cluster.ts';
import { hasQuorum } from '../../quorum.ts';
import { act, type Rule, type Step, wait } from './step.ts';

/**
 * A cluster that another operator has made goes on as it is, and becomes ours. Only when a majority has said who its
 * members are: then those let go of their bodies who would make them again, and when none of them is left the bodies
 * become ours. None of it stops anybody. That the cluster has formed is remembered last, so that all of it is done again
 * by whoever was stopped in between.
 */
export const takeOver: Rule = (world) => {
  const { membership, keepers = [] } = world;
  if (!isFoundRunning(world) || !membership.seen) return undefined;
  if (!hasQuorum(membership.value.members)) return wait('NoContact', 'fewer than a majority of the voters are healthy');
  const holding = keepers.filter(({ isLeaving }) => !isLeaving);
  const release = holding.map(({ name, uid }): Step => ({ kind: 'release-carrier', name, uid }));
  if (release.length > 0)
    return act('TakingOver', `freeing ${namesOf(holding)} from what would make them again`, ...release);
  if (keepers.length > 0) return wait('TakingOver', `waiting until ${namesOf(keepers)} are free`);
  const foreign = world.carriers.filter(({ isForeign }) => isForeign);
  const adopt = foreign.map(({ name, uid }): Step => ({ kind: 'adopt-carrier', name, uid }));
  return act('TakingOver', `taking over ${namesOf(foreign)}`, ...adopt);
};

/** Whether there is something that another operator has made, and that is not ours yet. */
export const isFoundRunning = ({ memory, keepers = [], carriers }: ClusterWorld): boolean =>
  !isOurs(memory) && (keepers.length > 0 || carriers.some(({ isForeign }) => isForeign));

const namesOf = (those: readonly { readonly name: string }[]): string => those.map(({ name }) => name).join(', ');
