import { describe, expect, it } from 'vitest';
import { type PodSpec, planPod } from './plan.ts';
import { type ContainerView, freshView, type Termination } from './view.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const ended = (exitCode: number, finishedAt = '2026-01-01T00:00:55Z'): Termination & { is: 'terminated' } => ({
  is: 'terminated',
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  finishedAt,
  startedAt: '2026-01-01T00:00:00Z',
  id: 'lab://1',
});
const view = (name: string, state: ContainerView['state'], more: Partial<ContainerView> = {}): ContainerView => ({
  ...freshView(name, 'busybox'),
  state,
  ...more,
});
const running: ContainerView['state'] = {
  is: 'running',
  startedAt: '2026-01-01T00:00:00Z',
  id: 'lab://1',
  health: { ready: true, started: true },
};
const spec: PodSpec = {
  initContainers: [
    { name: 'first', image: 'busybox' },
    { name: 'second', image: 'busybox' },
  ],
  containers: [{ name: 'main', image: 'busybox' }],
};
const names = (containers: readonly { readonly name: string }[]): readonly string[] =>
  containers.map(({ name }) => name);

describe('a pod', () => {
  it('runs its init containers one after another, then its containers', () => {
    expect(names(planPod(spec, {}, now).start)).toEqual(['first']);
    expect(names(planPod(spec, { first: view('first', running) }, now).start)).toEqual([]);
    const one = { first: view('first', ended(0)) };
    expect(names(planPod(spec, one, now).start)).toEqual(['second']);
    expect(names(planPod(spec, { ...one, second: view('second', ended(0)) }, now).start)).toEqual(['main']);
  });

  it('restarts an ended container according to its restart policy', () => {
    const plain = (restartPolicy: string): PodSpec => ({ restartPolicy, containers: spec.containers });
    const startsAgain = (policy: string, code: number): boolean =>
      planPod(plain(policy), { main: view('main', ended(code)) }, now).start.length === 1;
    expect([startsAgain('Always', 0), startsAgain('OnFailure', 0), startsAgain('Never', 0)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([startsAgain('Always', 1), startsAgain('OnFailure', 1), startsAgain('Never', 1)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('delays the restart of a crashed container until its back-off is over', () => {
    const backoff = { seconds: 10, restartedAt: now - 6_000 };
    const plan = planPod({ containers: spec.containers }, { main: view('main', ended(1), { backoff }) }, now);
    expect(plan.start).toEqual([]);
    expect(plan.nextCheckAt).toBe(Date.parse('2026-01-01T00:01:05Z'));
  });

  it('replaces a container with another image at once', () => {
    const changed = view('main', running, { image: 'other' });
    expect(names(planPod({ containers: spec.containers }, { main: changed }, now).stop)).toEqual(['main']);
    const backoff = { seconds: 300, restartedAt: now };
    const stopped = view('main', ended(0), { image: 'other', backoff });
    expect(names(planPod({ containers: spec.containers }, { main: stopped }, now).start)).toEqual(['main']);
  });
});
