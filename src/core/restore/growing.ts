import { oldDataStays } from './lost-cluster.ts';
import type { RestoredCluster, RestoreWorld } from './model.ts';
import { act, blocked, fail, type RestoreVerdict, wait } from './step.ts';

/** The restored cluster may be unreachable shortly while members are replaced. */
const lostSeconds = 300;

/** The phase `growing`: the restored cluster grows to its full size. */
export function grow({ now, intent, memory }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  if (cluster.holdAskedBy === intent.uid) return act({ kind: 'release-cluster' }, 'releasing the cluster');
  if (cluster.clusterId !== memory.clusterId)
    return fail(
      `EtcdCluster "${intent.cluster}" was recreated or restored again before it had its full size; ${oldDataStays}`,
    );
  if (cluster.isLost === true && now - memory.since > lostSeconds * 1000)
    return fail(
      `EtcdCluster "${intent.cluster}" lost the restored data before it had its full size: restore again; ${oldDataStays}`,
    );
  if (cluster.isPaused === true)
    return blocked(`EtcdCluster "${intent.cluster}" is paused: clear spec.paused to let it grow to its full size`);
  if (!cluster.isSettled) return waitForSize(cluster, intent.cluster);
  return { is: 'enter', phase: 'complete', message: 'the cluster serves at its full size' };
}

/** Repeats the problem of the cluster in the status of the restore. */
const waitForSize = ({ trouble }: RestoredCluster, name: string): RestoreVerdict =>
  trouble === undefined
    ? wait('waiting for the cluster to reach its full size')
    : blocked(`EtcdCluster "${name}" cannot grow to its full size: ${trouble}`);
