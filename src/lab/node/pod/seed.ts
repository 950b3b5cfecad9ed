import type { V1ContainerStateTerminated } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
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

function endOf(status: ContainerStatus, now: string): Termination | undefined {
  const { state = {}, lastState = {}, containerID: id = '' } = status;
  if (state.running !== undefined) return lost(state.running.startedAt ?? now, now, id);
  const told = state.terminated ?? lastState.terminated;
  return told && asTold(told, id, now);
}

function asTold(told: Json<V1ContainerStateTerminated>, id: string, now: string): Termination {
  const { exitCode, reason = 'Error', startedAt = now, finishedAt = now, containerID = id } = told;
  return { exitCode, reason, startedAt, finishedAt, id: containerID };
}

const lost = (startedAt: string, finishedAt: string, id: string): Termination => ({
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was restarted',
  startedAt,
  finishedAt,
  id,
});
