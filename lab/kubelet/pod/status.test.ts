import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/kube/object.ts';
import { podStatus } from './status.ts';
import { type ContainerView, freshView, type Views } from './view.ts';

const now = new Date('2026-01-01T00:00:00Z');
const pod = (more: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', generation: 1 },
  spec: { containers: [{ name: 'c', image: 'busybox' }], ...more },
});
const of = (state: ContainerView['state'], more: Partial<ContainerView> = {}): Views => ({
  c: { ...freshView('c', 'busybox'), state, ...more },
});
const statusOf = (given: Pod, views: Views) =>
  podStatus(given, { views, address: '10.244.1.2', hostAddress: '10.96.255.1', now });
const conditionsOf = (given: Pod, views: Views): Record<string, string> =>
  Object.fromEntries((statusOf(given, views).conditions ?? []).map(({ type, status }) => [type, status]));

const running = (ready: boolean): ContainerView['state'] => ({
  is: 'running',
  startedAt: '2026-01-01T00:00:00Z',
  id: 'lab://1',
  health: { ready, started: true },
});
const ended = (exitCode: number): ContainerView['state'] => ({
  is: 'terminated',
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  id: 'lab://1',
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: '2026-01-01T00:00:05Z',
});

describe('the status of a pod', () => {
  it('is pending while its container is being created', () => {
    const status = statusOf(pod(), {});
    expect(status.phase).toBe('Pending');
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  });

  it('shows that containers wait for init containers', () => {
    const status = statusOf(pod({ initContainers: [{ name: 'i', image: 'busybox' }] }), {});
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
    expect(conditionsOf(pod({ initContainers: [{ name: 'i', image: 'busybox' }] }), {})['Initialized']).toBe('False');
  });

  it('is ready if and only if all its containers are', () => {
    expect(conditionsOf(pod(), of(running(true)))).toMatchObject({ Ready: 'True', ContainersReady: 'True' });
    expect(conditionsOf(pod(), of(running(false)))).toMatchObject({ Ready: 'False', ContainersReady: 'False' });
  });

  it('shows a crash loop together with the exit of the last run', () => {
    const backoff = { seconds: 20, restartedAt: Date.parse('2026-01-01T00:00:00Z') };
    const [container] = statusOf(pod(), of(ended(3), { backoff, restartCount: 2 })).containerStatuses ?? [];
    expect(container?.state?.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 20s restarting failed container=c pod=p_n(u)',
    });
    expect(container?.lastState?.terminated?.exitCode).toBe(3);
  });

  it('has a final phase when no container will restart', () => {
    expect(statusOf(pod({ restartPolicy: 'Never' }), of(ended(0))).phase).toBe('Succeeded');
    expect(statusOf(pod({ restartPolicy: 'Never' }), of(ended(1))).phase).toBe('Failed');
    expect(statusOf(pod({ restartPolicy: 'OnFailure' }), of(ended(1))).phase).toBe('Running');
    expect(statusOf(pod(), of(ended(0))).phase).toBe('Running');
  });

  it('keeps conditions of other controllers, and the transition times of its own', () => {
    const since = '2025-12-31T00:00:00Z';
    const known = [
      { type: 'Ready', status: 'True', lastTransitionTime: since },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: since },
    ];
    const given = { ...pod(), status: { conditions: known } };
    const { conditions = [] } = statusOf(given, of(running(true)));
    expect(conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe(since);
    expect(conditions.find(({ type }) => type === 'PodScheduled')).toEqual(known[1]);
  });
});
