import type { V1ContainerStateTerminated } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { ContainerStatus } from './container-status.ts';
import { type ContainerView, freshView, type Termination } from './view.ts';

/**
 * The view of a container after a restart of the node, from the pod's last status. A container that was running then
 * has ended.
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
  const terminated = state.terminated ?? lastState.terminated;
  return terminated && terminationOf(terminated, id, now);
}

function terminationOf(terminated: Json<V1ContainerStateTerminated>, id: string, now: string): Termination {
  const { exitCode, reason = 'Error', startedAt = now, finishedAt = now, containerID = id } = terminated;
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
