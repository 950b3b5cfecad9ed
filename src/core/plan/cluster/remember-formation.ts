import { act, type Rule, waitForPerson } from './step.ts';

/** Once a majority has answered, the cluster exists; its id is written down, and nothing starts as new ever again. */
export const rememberFormation: Rule = ({ memory, membership }) => {
  if (!membership.seen) return undefined;
  const { clusterId } = membership.value;
  if (memory.clusterId === undefined) {
    return act('Formed', `etcd has formed cluster ${clusterId}`, { kind: 'remember-formation', clusterId });
  }
  if (memory.clusterId === clusterId) return undefined;
  const says = `members answer for cluster ${clusterId}, but this is cluster ${memory.clusterId}`;
  return waitForPerson('WrongCluster', says);
};
