import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf, type Pod } from '../../../src/kube/object.ts';
import { clusterKey, type EtcdCluster, isSettled, membersOf } from './cluster-changes.ts';
import type { ScreenSources } from './refresh-screen.ts';

const everyMillis = 100;

export interface RestartContext extends ScreenSources {
  /** The start of the lab, in milliseconds. */
  readonly since: number;
}

/** Resolves when all members of a settled cluster are ready again. The operator then does not rewrite its status. */
export async function untilReadyAgain(first: EtcdCluster, context: RestartContext, signal: AbortSignal): Promise<void> {
  const { watcher, lab, since } = context;
  const isReadyAgain = (): boolean => {
    const cluster = watcher.clusters.get(clusterKey(first));
    const pods = membersOf(cluster).map(({ name }) => lab.stores.pods.get(keyOf({ ...first.metadata, name })));
    return isSettled(cluster) && pods.every((pod) => pod !== undefined && isReadySince(pod, since));
  };
  while (!isReadyAgain() && !signal.aborted) await sleep(everyMillis);
}

const isReadySince = (pod: Pod, since: number): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
  startTimeOf(pod) + 1000 > since; // timestamps have whole seconds

const startTimeOf = ({ status }: Pod): number =>
  Date.parse(status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
