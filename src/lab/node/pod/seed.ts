import type { Pod } from '../../../kube/object.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { ContainerStatus } from './container-status.ts';
import { type ContainerView, freshView, type Termination } from './view.ts';

/**
 * What a node that has just started knows of a container: what it wrote into the pod's status when it last ran. What ran
 * then runs no more.
 */
export function seedView(pod: Pod, spec: ContainerSpec, now: string): ContainerView {
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const status = all.find(({ name }) => name === spec.name);
  const fresh = freshView(spec.name, spec.image ?? '');
  if (status === undefined) return fresh;
  const ended = endOf(status, now);
  const { restartCount, image, imageID: imageId } = status;
  if (ended === undefined) return { ...fresh, restartCount };
  return { ...fresh, image, imageId, restartCount, state: { is: 'terminated', ...ended } };
}

function endOf({ state, lastState, containerID: id = '' }: ContainerStatus, now: string): Termination | undefined {
  const told = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
  if (told !== undefined) {
    const { exitCode, reason = 'Error', startedAt = now, finishedAt = now, containerID = id } = told;
    return { exitCode, reason, startedAt, finishedAt, id: containerID };
  }
  if (state?.running === undefined) return undefined;
  const message = 'The container could not be located when the pod was restarted';
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message,
    startedAt: state.running.startedAt ?? now,
    finishedAt: now,
    id,
  };
}
