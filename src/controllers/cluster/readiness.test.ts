import { expect, it } from 'vitest';
import type { Pod, Stored } from '../../kube/object.ts';
import { hasFallenUnready, isNodeLost } from './readiness.ts';

const started = '2026-01-01T00:00:10Z';
const pod = (status: string, lastTransitionTime: string): Stored<Pod> =>
  ({ metadata: {}, status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } }) as unknown as Stored<Pod>;

it('one whose kubelet speaks of the end of the run before has not been ready yet', () => {
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:12Z'), started)).toBe(false);
});

it('one that became unready long after its start was ready, and is no more', () => {
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:16Z'), started)).toBe(true);
});

it('one that is ready, or does not run, has not fallen', () => {
  expect(hasFallenUnready(pod('True', '2026-01-01T00:00:16Z'), started)).toBe(false);
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:16Z'), undefined)).toBe(false);
});

const withConditions = (ready: object, containers: string, more: object = {}): Stored<Pod> =>
  ({
    ...{ metadata: {}, ...more },
    status: {
      conditions: [
        { type: 'Ready', ...ready },
        { type: 'ContainersReady', status: containers },
      ],
    },
  }) as unknown as Stored<Pod>;

it('a pod that the control plane calls unready while its containers are ready is on a lost node', () => {
  expect(isNodeLost(withConditions({ status: 'False' }, 'True'))).toBe(true);
  expect(isNodeLost(withConditions({ status: 'False', reason: 'NodeNotReady' }, 'False'))).toBe(true);
  expect(isNodeLost({ metadata: {}, status: { reason: 'NodeLost' } } as unknown as Stored<Pod>)).toBe(true);
});

it('a pod that its kubelet calls ready or unready, or that has readiness gates, is on a node that is there', () => {
  expect(isNodeLost(withConditions({ status: 'True' }, 'True'))).toBe(false);
  expect(isNodeLost(withConditions({ status: 'False', reason: 'ContainersNotReady' }, 'False'))).toBe(false);
  const gated = { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } };
  expect(isNodeLost(withConditions({ status: 'False' }, 'True', gated))).toBe(false);
});
