import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf } from '../../kube/object.ts';
import type { Lab } from '../../lab/lab.ts';
import type { Narrator } from './narrator.ts';
import { revisionAt } from './revision.ts';
import type { Screen } from './screen.ts';
import { clusterKey, type EtcdCluster, membersOf } from './tale.ts';

export interface Shown {
  readonly narrator: Narrator;
  readonly lab: Lab;
}

const everyMillis = 1000;

/** Keeps a screen showing the clusters; revisions cannot be watched, so etcd is asked for them. */
export async function showOn(screen: Screen, shown: Shown, signal: AbortSignal): Promise<void> {
  screen.clusters = () => [...shown.narrator.clusters.values()];
  while (!signal.aborted) {
    for (const cluster of screen.clusters()) {
      const revision = await revisionOf(cluster, shown).catch(() => undefined);
      screen.revisions.set(clusterKey(cluster), revision ?? '?');
    }
    screen.draw();
    await sleep(everyMillis, undefined, { signal }).catch(() => undefined);
  }
}

async function revisionOf(cluster: EtcdCluster, { lab }: Shown): Promise<string | undefined> {
  const leader = membersOf(cluster).find((member) => member.leader === true);
  const address = leader && lab.stores.pods.get(keyOf({ ...cluster.metadata, name: leader.name }))?.status?.podIP;
  return address ? await revisionAt(address, lab.dial) : undefined;
}
