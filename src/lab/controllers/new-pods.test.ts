import { expect, it } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../kube/object.ts';
import type { EventRecorder, Told } from '../../runtime/events.ts';
import { NewPods } from './new-pods.ts';

const metadata = { namespace: 'default', name: 'web', uid: '1', resourceVersion: '1', creationTimestamp: '' };
const owner: Stored<KubeObject> = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata };

/** A server that refuses as many as it is told, a clock that is set, and all that was told. */
function world(refusals: number) {
  const told: Told[] = [];
  const made: Pod[] = [];
  const clock = { millis: 0, monotonic: () => clock.millis };
  let left = refusals;
  const create = async (_: unknown, pod: Pod): Promise<Pod> => {
    if (left-- > 0)
      throw new ApiFailure('forbidden', `create pods ${pod.metadata.name}: no`, { says: `"${pod.metadata.name}": no` });
    made.push(pod);
    return pod;
  };
  const pods = new NewPods({
    client: { create } as unknown as KubeClient,
    clock: clock as never,
    recorder: { record: (_: unknown, what: Told) => void told.push(what) } as unknown as EventRecorder,
  });
  let number = 0;
  const next = (): Pod => ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { namespace: 'default', name: `web-${number++}` },
  });
  return { told, made, clock, pods, next };
}

it('waits for what it has made until the cache shows it, or so long that it never will', async () => {
  const { pods, made, clock, next } = world(0);
  expect(await pods.make(2, owner, next)).toEqual({ made: 2 });
  expect(pods.areAwaited(owner)).toBe(true);
  pods.seen(made[0] as Pod);
  expect(pods.areAwaited(owner)).toBe(true);
  clock.millis = 60_001;
  expect(pods.areAwaited(owner)).toBe(false);
});

it('does not wait for what was refused, tries no more of the kind, and tells it once', async () => {
  const { pods, told, next } = world(2);
  for (let times = 0; times < 2; times++) {
    expect(await pods.make(3, owner, next)).toMatchObject({ made: 0, refusal: { kind: 'forbidden' } });
    expect(pods.areAwaited(owner)).toBe(false);
  }
  const event = { type: 'Warning', reason: 'FailedCreate', message: 'Error creating: "web-": no' };
  expect(told).toEqual([event, event]);
  expect(await pods.make(1, owner, next)).toEqual({ made: 1 });
  expect(told.at(-1)).toMatchObject({ reason: 'SuccessfulCreate', message: 'Created pod: web-2' });
});
