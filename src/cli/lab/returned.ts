import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../kube/object.ts';
import type { Shown } from './show.ts';
import { isSettled, membersOf } from './tale.ts';

const everyMillis = 100;

/** Resolves when all members of a settled cluster run again and are ready: then its status need not be written again. */
export async function returned(name: string, { narrator, lab, namespace }: Shown, signal: AbortSignal): Promise<void> {
  const since = Date.now();
  const isBack = (): boolean => {
    const cluster = narrator.clusters.get(name);
    const pods = membersOf(cluster).map((member) => lab.stores.pods.get(`${namespace}/${member.name}`));
    return isSettled(cluster) && pods.every((pod) => pod !== undefined && isReadySince(pod, since));
  };
  while (!isBack() && !signal.aborted) await sleep(everyMillis);
}

const isReadySince = (pod: Pod, since: number): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
  startOf(pod) + 1000 > since; // Kubernetes counts in whole seconds

const startOf = ({ status }: Pod): number =>
  Date.parse(status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
