import { act, type Rule } from './step.ts';

/**
 * A cluster that has never been. Who founds it is written down before the first of them exists: a second look, or a
 * second operator, then starts the same founders and never others. The token makes it a cluster of its own even under a
 * name that was used before.
 */
export const rememberBootstrap: Rule = ({ intent, memory, carriers, spareNames }) => {
  if (memory.bootstrap !== undefined || memory.clusterId !== undefined || carriers.length > 0) return undefined;
  const members = spareNames.slice(0, intent.size);
  const token = `${intent.namespace}.${intent.name}.${intent.uid}`;
  return act('Creating', `creating a cluster of ${intent.size}`, {
    kind: 'remember-bootstrap',
    bootstrap: { members, token },
  });
};
