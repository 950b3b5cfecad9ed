import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf } from '../../../src/kube/object.ts';
import type { Lab } from '../../lab.ts';
import { revisionAt } from '../revision.ts';
import { clusterKey, type EtcdCluster, membersOf } from './cluster-changes.ts';
import type { ClusterWatcher } from './cluster-watcher.ts';
import type { Screen } from './screen.ts';

export interface ScreenSources {
  readonly watcher: ClusterWatcher;
  readonly lab: Lab;
}

const everyMillis = 1000;

/** Updates the screen every second. Revisions cannot be watched, so etcd is polled. */
export async function refreshScreen(screen: Screen, shown: ScreenSources, signal: AbortSignal): Promise<void> {
  screen.clusters = () => [...shown.watcher.clusters.values()];
  while (!signal.aborted) {
    for (const cluster of screen.clusters()) {
      const revision = await revisionOf(cluster, shown).catch(() => undefined);
      screen.revisions.set(clusterKey(cluster), revision ?? '?');
    }
    screen.draw();
    await sleep(everyMillis, undefined, { signal }).catch(() => undefined);
  }
}

async function revisionOf(cluster: EtcdCluster, { lab }: ScreenSources): Promise<string | undefined> {
  const leader = membersOf(cluster).find((member) => member.leader === true);
  const address = leader && lab.stores.pods.get(keyOf({ ...cluster.metadata, name: leader.name }))?.status?.podIP;
  return address ? await revisionAt(address, lab.dial) : undefined;
}
