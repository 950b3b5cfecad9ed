import { type CarrierName, type ClusterWorld, hasHistory } from '../../model/cluster.ts';
import { ordinalOf } from '../../model/ordinals.ts';
import { act, type Rule } from './step.ts';

/**
 * A cluster that has never been. Who founds it is written down before the first of them exists: a second look, or a
 * second operator, then starts the same founders and never others. The token makes it a cluster of its own even under a
 * name that was used before.
 */
export const rememberBootstrap: Rule = (world) => {
  const { intent, memory, carriers } = world;
  if (hasHistory(memory) || carriers.length > 0) return undefined;
  const token = `${intent.namespace}.${intent.name}.${intent.uid}`;
  return act('Creating', `creating a cluster of ${intent.size}`, {
    kind: 'remember-bootstrap',
    bootstrap: { members: foundersOf(world), token },
  });
};

/**
 * Whoever left a disk is among them: if there is data on it, etcd goes on with that and does not look at the list, and
 * then everybody is needed for a majority.
 */
function foundersOf({ intent, spareNames, leftDisks = [] }: ClusterWorld): readonly CarrierName[] {
  const names = [...leftDisks, ...spareNames].slice(0, Math.max(intent.size, leftDisks.length));
  return intent.memberNames === 'random' ? names : names.toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
}
