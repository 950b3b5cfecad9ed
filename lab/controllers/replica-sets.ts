import { isDeepStrictEqual } from 'node:util';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done, type Outcome, requeueAfter } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type ReplicaSet, replicaSets } from '../kinds.ts';
import { type ControllerContext, controller, isReady, ownerKey, ownKey, podOf } from './controller.ts';
import { cacheWaitSeconds, NewPods } from './new-pods.ts';

/** Keeps as many pods as each ReplicaSet asks for. */
export function replicaSetController(context: ControllerContext): Runnable {
  const { stores } = context;
  const newPods = new NewPods(context);
  return controller(context, {
    watch: (add) => {
      stores.replicaSets.onChange(ownKey(add));
      stores.pods.onChange((change) => {
        newPods.markSeen(change.object);
        ownerKey<Pod>('ReplicaSet', add)(change);
      });
    },
    reconcile: async (key) => {
      const set = stores.replicaSets.get(key);
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return done;
      return newPods.areUnseen(set) ? requeueAfter(cacheWaitSeconds) : await reconcile(context, set, newPods);
    },
  });
}

async function reconcile(context: ControllerContext, set: Stored<ReplicaSet>, newPods: NewPods): Promise<Outcome> {
  const own = context.stores.pods.by(ownerIndex, set.metadata.namespace, set.metadata.uid);
  const active = own.filter(isActive);
  const wanted = set.spec?.replicas ?? 1;
  const { failure } = await newPods.create(wanted - active.length, set, () => podOf(set, set.spec?.template));
  const surplus = active
    .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))
    .slice(0, Math.max(0, active.length - wanted));
  for (const pod of surplus) await unless('not-found', context.client.remove(pods, pod.metadata), undefined);
  await publish(context, set, active);
  if (failure !== undefined) throw failure;
  return done;
}

const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

async function publish({ client }: ControllerContext, set: Stored<ReplicaSet>, active: readonly Pod[]): Promise<void> {
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
