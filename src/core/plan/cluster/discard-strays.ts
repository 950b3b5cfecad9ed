import { needsPreparation, preparedCarrier } from './second-voter.ts';
import { act, type Rule, type Step } from './step.ts';

/** A pod or disk whose name is not in etcd's list is nobody's: what we removed, or never came to be. */
export const discardStrays: Rule = (world) => {
  const { membership, carriers } = world;
  if (!membership.seen) return undefined;
  const prepared = needsPreparation(world) ? preparedCarrier(world) : undefined;
  const listed = new Set(membership.value.members.map(({ name }) => name));
  const strays = carriers.filter(
    (carrier) => !listed.has(carrier.name) && carrier.phase !== 'stopping' && carrier !== prepared,
  );
  if (strays.length === 0) return undefined;
  const steps = strays.map(({ name, uid }): Step => ({ kind: 'discard-carrier', name, uid }));
  return act('StrayCarrier', `removing ${strays.map(({ name }) => name).join(', ')}, which is no member`, ...steps);
};
