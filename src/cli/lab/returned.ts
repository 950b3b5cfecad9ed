import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf, type Pod } from '../../kube/object.ts';
import type { Shown } from './show.ts';
import { clusterKey, type EtcdCluster, isSettled, membersOf } from './tale.ts';

const everyMillis = 100;

export interface Returning extends Shown {
  /** When the lab began to run, in milliseconds. */
  readonly since: number;
}

/** Resolves when all members of a settled cluster run again and are ready: then its status need not be written again. */
export async function returned(first: EtcdCluster, returning: Returning, signal: AbortSignal): Promise<void> {
  const { narrator, lab, since } = returning;
  const isBack = (): boolean => {
    const cluster = narrator.clusters.get(clusterKey(first));
    const pods = membersOf(cluster).map(({ name }) => lab.stores.pods.get(keyOf({ ...first.metadata, name })));
    return isSettled(cluster) && pods.every((pod) => pod !== undefined && isReadySince(pod, since));
  };
  while (!isBack() && !signal.aborted) await sleep(everyMillis);
}

const isReadySince = (pod: Pod, since: number): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
  startOf(pod) + 1000 > since; // Kubernetes counts in whole seconds

const startOf = ({ status }: Pod): number =>
  Date.parse(status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
