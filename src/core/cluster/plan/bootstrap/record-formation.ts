import { act, type Rule, waitForUser } from '../step.ts';

/** Records the cluster ID once a majority answers. From then on no member bootstraps. */
export const recordFormation: Rule = ({ memory, membership }) => {
  if (!membership.seen) return undefined;
  const { clusterId } = membership.value;
  if (memory.clusterId === undefined) {
    return act('Formed', `etcd has formed cluster ${clusterId}`, { kind: 'record-formation', clusterId });
  }
  if (memory.clusterId === clusterId) return undefined;
  const message = `members belong to etcd cluster ${clusterId}, but the status records etcd cluster ${memory.clusterId}`;
  return waitForUser('WrongCluster', message);
};
