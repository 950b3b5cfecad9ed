import { type ClusterWorld, hasHistory } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import type { CarrierName } from '../../model/names.ts';
import { ordinalOf } from '../../model/ordinals.ts';
import { refusalToFound } from '../../versions/route.ts';
import { act, type Rule, type Verdict, waitForPerson } from './step.ts';

/**
 * A cluster that has never been. Who founds it is written down before the first of them exists: a second look, or a
 * second operator, then starts the same founders and never others. The token makes it a cluster of its own even under a
 * name that was used before.
 */
export const rememberBootstrap: Rule = (world) => {
  const { memory, carriers, keepers = [] } = world;
  if (hasHistory(memory) || carriers.length > 0 || keepers.length > 0) return undefined;
  return begin(world);
};

/** Where disks were left, that version ran before, and is gone on with whatever is known of it. */
const begin = ({ intent, leftDisks = [], spareNames }: ClusterWorld): Verdict => {
  const refusal = leftDisks.length > 0 ? undefined : refusalToFound(intent.version);
  if (refusal !== undefined) return waitForPerson('BadSpec', `spec.version: ${refusal}`);
  const token = `${intent.namespace}.${intent.name}.${intent.uid}`;
  const bootstrap =
    leftDisks.length > 0
      ? { members: inOrder(leftDisks, intent), token, onLeftDisks: true }
      : { members: inOrder(spareNames.slice(0, intent.size), intent), token };
  return act('Creating', `creating a cluster of ${bootstrap.members.length}`, {
    kind: 'remember-bootstrap',
    bootstrap,
  });
};

/**
 * Where disks were left, their members are all the founders. If there is data on one, etcd goes on with it and does not look
 * at the list; beside such a one, others with empty disks could find each other and be a cluster without it. When the
 * founders serve, the rest is a matter of growing.
 */
const inOrder = (names: readonly CarrierName[], { memberNames }: ClusterIntent): readonly CarrierName[] =>
  memberNames === 'random' ? names : names.toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
