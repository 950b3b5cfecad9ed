import type { KubeClient } from '../kube/client.ts';
import { pods } from '../kube/resource.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import type { Runnable } from '../runtime/manager.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './telemetry/log.ts';

export interface Chaos {
  /** Level 1 kills one member at a time, level 2 up to five; other levels kill none. */
  readonly level: number;
  readonly client: Pick<KubeClient, 'list' | 'remove'>;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
}

const victimsAt: Readonly<Record<number, number>> = { 1: 1, 2: 5 };
const firstAfterMillis = 60_000;
const everyMillis = 30_000;

/** Kills random members, as the original does: after 60 s, then every 30 s with probability 0.5. */
export const makeChaos =
  ({ level, client, namespace, clock, log }: Chaos): Runnable =>
  async (signal) => {
    const most = victimsAt[level];
    if (most === undefined) return;
    log.warn({ chaosLevel: level }, 'killing random members (--chaos-level)');
    for (let wait = firstAfterMillis; ; wait = everyMillis) {
      await pause(clock, wait, signal);
      if (signal.aborted) return;
      if (clock.random() < 0.5) continue;
      await killSome(most, { client, namespace, clock, log }).catch((thrown: unknown) =>
        log.warn({ failure: Failure.from(thrown).message }, 'killing members failed'),
      );
    }
  };

async function killSome(most: number, { client, namespace, clock, log }: Omit<Chaos, 'level'>): Promise<void> {
  const { items } = await client.list(pods, { namespace, labelSelector: 'app=etcd' });
  const shuffled = items.map((pod) => ({ pod, order: clock.random() })).toSorted((a, b) => a.order - b.order);
  for (const { pod } of shuffled.slice(0, most)) {
    log.warn({ pod: pod.metadata.name }, 'killing member');
    const { uid, resourceVersion } = pod.metadata;
    await client.remove(pods, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid, resourceVersion } });
  }
}
