import { expect, it } from 'vitest';
import type { Pod, Stored } from '../../kube/object.ts';
import { hasFallenUnready } from './readiness.ts';

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
