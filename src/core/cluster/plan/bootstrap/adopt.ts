import { hasQuorum } from '../../../quorum.ts';
import { type ClusterWorld, isOurs } from '../../model/cluster.ts';
import { act, type MemberStep, type Rule, wait } from '../step.ts';

/**
 * Adopts a running cluster that another operator created, once a majority has confirmed its members. First the
 * ReplicaSets of its pods are deleted, with their pods orphaned. Once all ReplicaSets are gone, the pods are adopted.
 * No member is restarted. The cluster ID is recorded last, so that an interrupted adoption starts again.
 */
export const adoptCluster: Rule = (world) => {
  const { membership, legacyReplicaSets = [] } = world;
  if (!needsAdoption(world) || !membership.seen) return undefined;
  if (!hasQuorum(membership.value.members)) return wait('NoContact', 'fewer than a majority of the voters are healthy');
  const holding = legacyReplicaSets.filter(({ isLeaving }) => !isLeaving);
  const release = holding.map(({ name, uid }): MemberStep => ({ kind: 'release-member-pod', name, uid }));
  if (release.length > 0)
    return act(
      'TakingOver',
      `deleting ReplicaSet of ${namesOf(holding)} (its pod is orphaned, not deleted)`,
      ...release,
    );
  if (legacyReplicaSets.length > 0)
    return wait('TakingOver', `waiting for the ReplicaSet of ${namesOf(legacyReplicaSets)} to be deleted`);
  const foreign = world.memberPods.filter(({ isForeign }) => isForeign);
  const adopt = foreign.map(({ name, uid }): MemberStep => ({ kind: 'adopt-member-pod', name, uid }));
  return act('TakingOver', `adopting ${namesOf(foreign)}`, ...adopt);
};

/** True if there are pods or ReplicaSets of another operator that have not been adopted yet. */
export const needsAdoption = ({ memory, legacyReplicaSets = [], memberPods }: ClusterWorld): boolean =>
  !isOurs(memory) && (legacyReplicaSets.length > 0 || memberPods.some(({ isForeign }) => isForeign));

const namesOf = (those: readonly { readonly name: string }[]): string => those.map(({ name }) => name).join(', ');
