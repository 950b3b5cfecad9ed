import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Pod, type PodDisruptionBudget, type Stored } from '../../src/kube/object.ts';
import { podDisruptionBudgets } from '../../src/kube/resource.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done } from '../../src/runtime/outcome.ts';
import { formatTime } from '../kubelet/pod/status.ts';
import { selects } from '../selector.ts';
import { type ControllerContext, controller, isReady, sameNamespaceKeys } from './controller.ts';

/** An eviction that has not deleted its pod by then no longer counts. */
const evictionTimeoutMillis = 120_000;

/** Writes the status of each PodDisruptionBudget. */
export function budgetController(context: ControllerContext): Runnable {
  const { stores, client, clock } = context;
  return controller(context, {
    watch: (add) => {
      stores.budgets.onChange(({ object }) => add(keyOf(object.metadata)));
      stores.pods.onChange(sameNamespaceKeys(stores.budgets, add));
    },
    reconcile: async (key) => {
      const budget = stores.budgets.get(key);
      if (budget === undefined) return done;
      const status = budgetStatus(budget, stores.pods.all(), formatTime(clock.now()));
      const { conditions: _, ...counted } = status;
      const { conditions: __, disruptedPods: ___, ...before } = budget.status ?? {};
      const ended = endedEvictions(budget, stores.pods.all());
      if (isDeepStrictEqual(counted, before) && ended.length === 0) return done;
      const disruptedPods = Object.fromEntries(ended.map((name) => [name, null]));
      await client.patch(podDisruptionBudgets, budget.metadata, {
        type: 'merge',
        body: { status: { ...status, disruptedPods } },
        subresource: 'status',
      });
      return done;
    },
  });
}

export function budgetStatus(budget: PodDisruptionBudget, pods: readonly Stored<Pod>[], time: string) {
  const { spec, metadata } = budget;
  const selected = pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && selects(spec?.selector, pod.metadata.labels),
  );
  const currentHealthy = selected.filter(
    (pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined && !isEvicted(budget, pod, time),
  ).length;
  const expectedPods = selected.length;
  const desiredHealthy = desiredHealthyOf(spec, expectedPods);
  const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy);
  const isAllowed = disruptionsAllowed > 0;
  const reason = isAllowed ? 'SufficientPods' : 'InsufficientPods';
  const observedGeneration = metadata.generation ?? 0;
  return {
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods,
    observedGeneration,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: isAllowed ? 'True' : 'False',
        reason,
        message: '',
        observedGeneration,
        lastTransitionTime: time,
      },
    ],
  };
}

/** Evicted pods that are deleted or being deleted. */
function endedEvictions({ status, metadata }: PodDisruptionBudget, pods: readonly Stored<Pod>[]): readonly string[] {
  const staying = new Set(
    pods
      .filter((pod) => pod.metadata.namespace === metadata.namespace && pod.metadata.deletionTimestamp === undefined)
      .map((pod) => pod.metadata.name),
  );
  return Object.keys(status?.disruptedPods ?? {}).filter((name) => !staying.has(name));
}

/** True for an evicted pod whose deletion is not visible yet. It must not count as available meanwhile. */
function isEvicted({ status }: PodDisruptionBudget, { metadata }: Stored<Pod>, now: string): boolean {
  const evicted = Date.parse(status?.disruptedPods?.[metadata.name] ?? '');
  const isRecreated = Date.parse(metadata.creationTimestamp) > evicted;
  return !isRecreated && Date.parse(now) - evicted < evictionTimeoutMillis;
}

function desiredHealthyOf(spec: PodDisruptionBudget['spec'], expected: number): number {
  if (spec?.minAvailable !== undefined) return Math.min(expected, scaled(spec.minAvailable, expected));
  return Math.max(0, expected - scaled(spec?.maxUnavailable ?? 1, expected));
}

/** A number, or a percentage of all, rounded up by default. */
export const scaled = (value: unknown, all: number, round: (number: number) => number = Math.ceil): number => {
  const text = String(value);
  return text.endsWith('%') ? round((Number.parseFloat(text) / 100) * all) : Number(text);
};
