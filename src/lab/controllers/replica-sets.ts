import { isDeepStrictEqual } from 'node:util';
import type { Pod, Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { again, done, type Outcome } from '../../runtime/outcome.ts';
import { unless } from '../../std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type ReplicaSet, replicaSets } from '../kinds.ts';
import { controller, isReady, ownerKey, ownKey, podOf, type Tools } from './controller.ts';
import { NewPods, settleSeconds } from './new-pods.ts';

/** Keeps as many pods as each ReplicaSet says. */
export function replicaSetController(tools: Tools): Runnable {
  const { stores } = tools;
  const made = new NewPods(tools);
  return controller(tools, {
    watch: (add) => {
      stores.replicaSets.onChange(ownKey(add));
      stores.pods.onChange((change) => {
        made.seen(change.object);
        ownerKey<Pod>('ReplicaSet', add)(change);
      });
    },
    reconcile: async (key) => {
      const set = stores.replicaSets.get(key);
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return done;
      return made.areAwaited(set) ? again(settleSeconds) : await reconcile(tools, set, made);
    },
  });
}

async function reconcile(tools: Tools, set: Stored<ReplicaSet>, made: NewPods): Promise<Outcome> {
  const own = tools.stores.pods.by(ownerIndex, set.metadata.namespace, set.metadata.uid);
  const active = own.filter(isActive);
  const wanted = set.spec?.replicas ?? 1;
  const { refusal } = await made.make(wanted - active.length, set, () => podOf(set, set.spec?.template));
  const surplus = active
    .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))
    .slice(0, Math.max(0, active.length - wanted));
  for (const pod of surplus) await unless('not-found', tools.client.remove(pods, pod.metadata), undefined);
  await publish(tools, set, active);
  if (refusal !== undefined) throw refusal;
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
