import { refusalToBootstrap } from '../../../versions/route.ts';
import { type ClusterWorld, hasHistory } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import type { MemberName } from '../../model/names.ts';
import { ordinalOf } from '../../model/ordinals.ts';
import { act, type Rule, type Verdict, waitForUser } from '../step.ts';

/**
 * Records the bootstrap members of a new cluster before the first pod exists. A later pass, or another operator, then
 * starts the same members. The token keeps the cluster apart from an earlier cluster with the same name.
 */
export const recordBootstrap: Rule = (world) => {
  const { memory, memberPods, legacyReplicaSets = [] } = world;
  if (hasHistory(memory) || memberPods.length > 0 || legacyReplicaSets.length > 0) return undefined;
  return begin(world);
};

/** With retained PVCs the version has run before, so it is accepted even with a known fault. */
const begin = ({ intent, retainedVolumes = [], spareNames }: ClusterWorld): Verdict => {
  const refusal = retainedVolumes.length > 0 ? undefined : refusalToBootstrap(intent.version);
  if (refusal !== undefined) return waitForUser('BadSpec', `spec.version: ${refusal}`);
  const token = `${intent.namespace}.${intent.name}.${intent.uid}`;
  const bootstrap =
    retainedVolumes.length > 0
      ? { members: inOrder(retainedVolumes, intent), token, onRetainedVolumes: true }
      : { members: inOrder(spareNames.slice(0, intent.size), intent), token };
  return act('Creating', `creating a cluster with ${bootstrap.members.length} members`, {
    kind: 'record-bootstrap',
    bootstrap,
  });
};

/**
 * With retained PVCs, exactly their members bootstrap. A member with data ignores the list of bootstrap members.
 * Further members with empty volumes could form a second cluster without it. They are added after the cluster has
 * formed.
 */
const inOrder = (names: readonly MemberName[], { memberNames }: ClusterIntent): readonly MemberName[] =>
  memberNames === 'random' ? names : names.toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
