import type { Pod } from '../../../src/kube/object.ts';
import type { SimulatedObject } from '../api/objects.ts';

/** The last end of a container. */
export interface Ended {
  readonly code: number;
  readonly message: string;
  readonly at: string;
}

/** What a kubelet knows of a pod. */
export interface ContainerView {
  readonly address: string | undefined;
  readonly image: string;
  readonly restarts: number;
  readonly startedAt: string | undefined;
  readonly isReady: boolean;
  readonly isBackingOff: boolean;
  readonly ended: Ended | undefined;
  readonly now: string;
}

export const asPod = (object: SimulatedObject): Pod => object as unknown as Pod;

/** The image in the spec of the etcd container. */
export const etcdImageOf = (pod: SimulatedObject): string =>
  asPod(pod).spec?.containers?.find(({ name }) => name === 'etcd')?.image ?? '';

export const versionOfImage = (image: string): string => image.replace(/@.*$/, '').split(':v')[1] ?? '';

/** The status that a kubelet reports. */
export function podStatus(pod: SimulatedObject, view: ContainerView): object {
  return {
    phase: view.startedAt === undefined && view.restarts === 0 ? 'Pending' : 'Running',
    ...(view.address === undefined ? {} : { podIP: view.address }),
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      condition(pod, 'ContainersReady', view),
      condition(pod, 'Ready', view),
    ],
    containerStatuses: [
      {
        name: 'etcd',
        image: view.image,
        imageID: '',
        ready: view.isReady,
        restartCount: view.restarts,
        state: stateOf(view),
        ...(view.ended === undefined ? {} : { lastState: { terminated: terminated(view.ended) } }),
      },
    ],
  };
}

const terminated = ({ code, message, at }: Ended): object => ({ exitCode: code, message, finishedAt: at });

function stateOf({ startedAt, isBackingOff }: ContainerView): object {
  if (startedAt !== undefined) return { running: { startedAt } };
  const reason = isBackingOff ? 'CrashLoopBackOff' : 'ContainerCreating';
  return { waiting: { reason, ...(isBackingOff ? { message: 'back-off restarting failed container etcd' } : {}) } };
}

function condition(pod: SimulatedObject, type: string, { isReady, now }: ContainerView): object {
  const status = isReady ? 'True' : 'False';
  const before = asPod(pod).status?.conditions?.find((each) => each.type === type);
  return before?.status === status ? before : { type, status, lastTransitionTime: now };
}
