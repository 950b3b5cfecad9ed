import { expect, it } from 'vitest';
import type { KubeClient } from '../../src/kube/client.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import type { EventContent, EventRecorder } from '../../src/runtime/events.ts';
import { NewPods } from './new-pods.ts';

const metadata = { namespace: 'default', name: 'web', uid: '1', resourceVersion: '1', creationTimestamp: '' };
const owner: Stored<KubeObject> = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata };

/** A server that refuses a number of creations, a settable clock, and the recorded Events. */
function world(refusals: number) {
  const recorded: EventContent[] = [];
  const made: Pod[] = [];
  const clock = { millis: 0, monotonic: () => clock.millis };
  let left = refusals;
  const create = async (_: unknown, pod: Pod): Promise<Pod> => {
    if (left-- > 0)
      throw new ApiFailure('forbidden', `create pods ${pod.metadata.name}: no`, {
        serverMessage: `"${pod.metadata.name}": no`,
      });
    made.push(pod);
    return pod;
  };
  const pods = new NewPods({
    client: { create } as unknown as KubeClient,
    clock: clock as never,
    recorder: { record: (_: unknown, event: EventContent) => void recorded.push(event) } as unknown as EventRecorder,
  });
  let number = 0;
  const next = (): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: `web-${number++}` },
  });
  return { recorded, made, clock, pods, next };
}

it('a controller waits for its new pods until the cache has them or a minute is over', async () => {
  const { pods, made, clock, next } = world(0);
  expect(await pods.create(2, owner, next)).toEqual({ created: 2 });
  expect(pods.areUnseen(owner)).toBe(true);
  pods.markSeen(made[0] as Pod);
  expect(pods.areUnseen(owner)).toBe(true);
  clock.millis = 60_001;
  expect(pods.areUnseen(owner)).toBe(false);
});

it('a refused pod stops further creations, is not waited for, and is reported in one repeated Event', async () => {
  const { pods, recorded, next } = world(2);
  for (let times = 0; times < 2; times++) {
    expect(await pods.create(3, owner, next)).toMatchObject({ created: 0, failure: { kind: 'forbidden' } });
    expect(pods.areUnseen(owner)).toBe(false);
  }
  const event = { type: 'Warning', reason: 'FailedCreate', message: 'Error creating: "web-": no' };
  expect(recorded).toEqual([event, event]);
  expect(await pods.create(1, owner, next)).toEqual({ created: 1 });
  expect(recorded.at(-1)).toMatchObject({ reason: 'SuccessfulCreate', message: 'Created pod: web-2' });
});
