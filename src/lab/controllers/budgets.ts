import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Pod, type PodDisruptionBudget, type Stored } from '../../kube/object.ts';
import { podDisruptionBudgets } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { done } from '../../runtime/outcome.ts';
import { timeOf } from '../node/pod/status.ts';
import { selects } from '../selector.ts';
import { controller, isReady, siblings, type Tools } from './controller.ts';

/** An eviction that has come to nothing by then counts no more. */
const forgottenMillis = 120_000;

/** Keeps in each budget how many of its pods may be disturbed. */
export function budgets(tools: Tools): Runnable {
  const { stores, client, clock } = tools;
  return controller(tools, {
    watch: (add) => {
      stores.budgets.onChange(({ object }) => add(keyOf(object.metadata)));
      stores.pods.onChange(siblings(stores.budgets, add));
    },
    reconcile: async (key) => {
      const budget = stores.budgets.get(key);
      if (budget === undefined) return done;
      const status = budgetStatus(budget, stores.pods.all(), timeOf(clock.now()));
      const { conditions: _, ...counted } = status;
      const { conditions: __, disruptedPods: ___, ...before } = budget.status ?? {};
      const over = endedEvictions(budget, stores.pods.all());
      if (isDeepStrictEqual(counted, before) && over.length === 0) return done;
      const disruptedPods = Object.fromEntries(over.map((name) => [name, null]));
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
  const meant = pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && selects(spec?.selector, pod.metadata.labels),
  );
  const currentHealthy = meant.filter(
    (pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined && !isLeaving(budget, pod, time),
  ).length;
  const expectedPods = meant.length;
  const desiredHealthy = desired(spec, expectedPods);
  const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy);
  const isAllowed = disruptionsAllowed > 0;
  const reason = isAllowed ? 'SufficientPods' : 'InsufficientPods';
  const observedGeneration = metadata.generation ?? 0;
  return {
    ...{ currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, observedGeneration },
    conditions: [
      {
        ...{ type: 'DisruptionAllowed', status: isAllowed ? 'True' : 'False', reason, message: '' },
        ...{ observedGeneration, lastTransitionTime: time },
      },
    ],
  };
}

/** Of pods that are on their way out for all to see, or gone. */
function endedEvictions({ status, metadata }: PodDisruptionBudget, pods: readonly Stored<Pod>[]): readonly string[] {
  const staying = new Set(
    pods
      .filter((pod) => pod.metadata.namespace === metadata.namespace && pod.metadata.deletionTimestamp === undefined)
      .map((pod) => pod.metadata.name),
  );
  return Object.keys(status?.disruptedPods ?? {}).filter((name) => !staying.has(name));
}

/** That a pod was evicted is known before we hear of its end: it must not be counted on once more in between. */
function isLeaving({ status }: PodDisruptionBudget, { metadata }: Stored<Pod>, now: string): boolean {
  const evicted = Date.parse(status?.disruptedPods?.[metadata.name] ?? '');
  const isAnother = Date.parse(metadata.creationTimestamp) > evicted;
  return !isAnother && Date.parse(now) - evicted < forgottenMillis;
}

function desired(spec: PodDisruptionBudget['spec'], expected: number): number {
  if (spec?.minAvailable !== undefined) return Math.min(expected, scaled(spec.minAvailable, expected));
  return Math.max(0, expected - scaled(spec?.maxUnavailable ?? 1, expected));
}

/** A number, or a share of all, rounded up unless told otherwise. */
export const scaled = (value: unknown, all: number, round: (number: number) => number = Math.ceil): number => {
  const text = String(value);
  return text.endsWith('%') ? round((Number.parseFloat(text) / 100) * all) : Number(text);
};
