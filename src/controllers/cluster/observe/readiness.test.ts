import { expect, it } from 'vitest';
import type { Pod, Stored } from '../../../kube/object.ts';
import { hasBeenReady, hasFallenUnready, isNodeLost } from './readiness.ts';

const started = '2026-01-01T00:00:10Z';
const pod = (status: string, lastTransitionTime: string): Stored<Pod> =>
  ({ metadata: {}, status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } }) as unknown as Stored<Pod>;

it('a pod that became unready right after its start has not been ready in this run', () => {
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:12Z'), started)).toBe(false);
});

it('a pod that became unready long after its start has fallen unready', () => {
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:16Z'), started)).toBe(true);
});

it('a pod that is ready or not running has not fallen unready', () => {
  expect(hasFallenUnready(pod('True', '2026-01-01T00:00:16Z'), started)).toBe(false);
  expect(hasFallenUnready(pod('False', '2026-01-01T00:00:16Z'), undefined)).toBe(false);
});

it('a pod that became unready after its first report has been ready, also if its container has restarted', () => {
  const since = (status: string, time: string): Stored<Pod> => {
    const { status: conditions, ...rest } = pod(status, time);
    return { ...rest, status: { ...conditions, startTime: started } };
  };
  expect(hasBeenReady(since('False', '2026-01-01T00:00:13Z'))).toBe(true);
  expect(hasBeenReady(since('False', '2026-01-01T00:00:12Z'))).toBe(false);
  expect(hasBeenReady(since('True', '2026-01-01T00:00:11Z'))).toBe(true);
  expect(hasBeenReady(pod('False', '2026-01-01T00:00:16Z'))).toBe(false);
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

it('an unready pod with ready containers is on a lost node', () => {
  expect(isNodeLost(withConditions({ status: 'False' }, 'True'))).toBe(true);
  expect(isNodeLost(withConditions({ status: 'False', reason: 'NodeNotReady' }, 'False'))).toBe(true);
  expect(isNodeLost({ metadata: {}, status: { reason: 'NodeLost' } } as unknown as Stored<Pod>)).toBe(true);
});

it('a ready pod, a pod with unready containers and a pod with readiness gates are on no lost node', () => {
  expect(isNodeLost(withConditions({ status: 'True' }, 'True'))).toBe(false);
  expect(isNodeLost(withConditions({ status: 'False', reason: 'ContainersNotReady' }, 'False'))).toBe(false);
  const gated = { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } };
  expect(isNodeLost(withConditions({ status: 'False' }, 'True', gated))).toBe(false);
});
