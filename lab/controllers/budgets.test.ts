import { expect, it } from 'vitest';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { budgetStatus } from './budgets.ts';

const labels = { app: 'etcd' };
const created = '2026-01-01T00:00:00Z';
const pod = (name: string, more: object = {}): Stored<Pod> =>
  ({
    metadata: {
      namespace: 'default',
      name,
      uid: name,
      resourceVersion: '1',
      labels,
      creationTimestamp: created,
      ...more,
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as Stored<Pod>;
const budget = (disruptedPods: Readonly<Record<string, string>>): Parameters<typeof budgetStatus>[0] =>
  ({
    metadata: { namespace: 'default', name: 'db', generation: 1 },
    spec: { minAvailable: 3, selector: { matchLabels: labels } },
    status: { disruptedPods },
  }) as unknown as Parameters<typeof budgetStatus>[0];
const five = ['a', 'b', 'c', 'd', 'e'].map((name) => pod(name));
const allowed = (disrupted: Readonly<Record<string, string>>, pods: readonly Stored<Pod>[] = five): number =>
  budgetStatus(budget(disrupted), pods, '2026-01-01T00:10:00Z').disruptionsAllowed;

it('an evicted pod counts as unavailable before its deletion is visible', () => {
  expect(allowed({})).toBe(2);
  expect(allowed({ a: '2026-01-01T00:09:59Z', b: '2026-01-01T00:09:59Z' })).toBe(0);
});

it('an evicted pod that stays, or is recreated with the same name, counts as available again', () => {
  expect(allowed({ a: '2026-01-01T00:07:00Z' })).toBe(2);
  const returned = pod('a', { creationTimestamp: '2026-01-01T00:10:00Z' });
  expect(allowed({ a: '2026-01-01T00:09:59Z' }, [returned, ...five.slice(1)])).toBe(2);
});
