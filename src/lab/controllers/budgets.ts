import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Pod, type PodDisruptionBudget, type Stored } from '../../kube/object.ts';
import { podDisruptionBudgets } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { done } from '../../runtime/outcome.ts';
import { timeOf } from '../node/pod/status.ts';
import { selects } from '../selector.ts';
import { controller, isReady, siblings, type Tools } from './controller.ts';

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
      if (isDeepStrictEqual(counted, before)) return done;
      await client.patch(podDisruptionBudgets, budget.metadata, {
        type: 'merge',
        body: { status },
        subresource: 'status',
      });
      return done;
    },
  });
}

export function budgetStatus({ spec, metadata }: PodDisruptionBudget, pods: readonly Stored<Pod>[], time: string) {
  const meant = pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && selects(spec?.selector, pod.metadata.labels),
  );
  const currentHealthy = meant.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined).length;
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

function desired(spec: PodDisruptionBudget['spec'], expected: number): number {
  if (spec?.minAvailable !== undefined) return Math.min(expected, scaled(spec.minAvailable, expected));
  return Math.max(0, expected - scaled(spec?.maxUnavailable ?? 1, expected));
}

/** A number, or a share of all, rounded up unless told otherwise. */
export const scaled = (value: unknown, all: number, round: (number: number) => number = Math.ceil): number => {
  const text = String(value);
  return text.endsWith('%') ? round((Number.parseFloat(text) / 100) * all) : Number(text);
};
