import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { again, done, type Outcome } from '../../runtime/outcome.ts';
import { unless } from '../../std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type ReplicaSet, replicaSets } from '../kinds.ts';
import { controller, isReady, ownerKey, ownKey, podOf, type Tools } from './controller.ts';

/** While the cache has not shown what was just made, the same must not be made again. */
const settleSeconds = 0.2;

/** Keeps as many pods as each ReplicaSet says. */
export function replicaSetController(tools: Tools): Runnable {
  const { stores } = tools;
  /** How many pods each has made that the cache has not shown. */
  const unseen = new Map<string, Set<string>>();
  return controller(tools, {
    watch: (add) => {
      stores.replicaSets.onChange(ownKey(add));
      stores.pods.onChange((change) => {
        for (const names of unseen.values()) names.delete(keyOf(change.object.metadata));
        ownerKey<Pod>('ReplicaSet', add)(change);
      });
    },
    reconcile: async (key) => {
      const set = stores.replicaSets.get(key);
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return done;
      if ((unseen.get(set.metadata.uid)?.size ?? 0) > 0) return again(settleSeconds);
      return await reconcile(tools, set, unseen);
    },
  });
}

async function reconcile(tools: Tools, set: Stored<ReplicaSet>, unseen: Map<string, Set<string>>): Promise<Outcome> {
  const own = tools.stores.pods.by(ownerIndex, set.metadata.uid);
  const active = own.filter(isActive);
  const wanted = set.spec?.replicas ?? 1;
  const made = new Set<string>();
  unseen.set(set.metadata.uid, made);
  for (let count = active.length; count < wanted; count++) {
    const pod = podOf(set, set.spec?.template);
    made.add(keyOf(pod.metadata));
    await tools.client.create(pods, pod);
    tools.recorder.record(set, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created pod: ${pod.metadata.name}`,
    });
  }
  const surplus = active
    .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))
    .slice(0, Math.max(0, active.length - wanted));
  for (const pod of surplus) await unless('not-found', tools.client.remove(pods, pod.metadata), undefined);
  await publish(tools, set, active);
  return done;
}

const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

async function publish({ client }: Tools, set: Stored<ReplicaSet>, active: readonly Pod[]): Promise<void> {
  const ready = active.filter(isReady).length;
  const replicas = active.length;
  const observedGeneration = set.metadata.generation ?? 0;
  const status = {
    replicas,
    fullyLabeledReplicas: replicas,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration,
  };
  const { conditions: _, terminatingReplicas: __, ...before } = set.status ?? {};
  const zero = { fullyLabeledReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  if (isDeepStrictEqual({ ...zero, ...before }, status)) return;
  const patch = { type: 'merge', body: { status }, subresource: 'status' } as const;
  await unless('not-found', client.patch(replicaSets, set.metadata, patch), undefined);
}
