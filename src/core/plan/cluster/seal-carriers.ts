import { act, type Rule, type Step } from './step.ts';

/**
 * A member that has been part of the cluster must never start again from an empty disk: it would come back under its old
 * identity without what it had promised to keep. So each is sealed as soon as it has joined.
 */
export const sealCarriers: Rule = ({ memory, membership, carriers }) => {
  if (!membership.seen || memory.clusterId === undefined) return undefined;
  const joined = new Set(membership.value.members.filter((m) => m.health === 'healthy').map((m) => m.name));
  const open = carriers.filter((carrier) => !carrier.sealed && carrier.phase === 'running' && joined.has(carrier.name));
  if (open.length === 0) return undefined;
  const steps = open.map(({ name, uid }): Step => ({ kind: 'seal-carrier', name, uid }));
  return act('Formed', `sealing ${open.map(({ name }) => name).join(', ')}`, ...steps);
};
