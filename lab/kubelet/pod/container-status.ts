import type { V1ContainerState, V1ContainerStatus } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import type { ContainerSpec } from '../container/environment.ts';
import { mayStartAt } from './backoff.ts';
import { shouldRestart, specOf } from './plan.ts';
import { type ContainerView, freshView, type Termination, type Views } from './view.ts';

export type ContainerStatus = Json<V1ContainerStatus>;
type StateField = Json<V1ContainerState>;

/** The status of a container as the API shows it. */
export function containerStatus(pod: Pod, spec: ContainerSpec, given: ContainerView | undefined): ContainerStatus {
  const view = given ?? freshView(spec.name, spec.image ?? '');
  const { state, lastState } = statesOf(pod, view);
  const health = view.state.is === 'running' ? view.state.health : { ready: false, started: false };
  return {
    name: spec.name,
    image: view.image,
    imageID: view.imageId,
    ready: health.ready,
    started: health.started,
    restartCount: view.restartCount,
    state,
    lastState,
    ...(view.state.is === 'waiting' ? {} : { containerID: view.state.id }),
  };
}

function statesOf(pod: Pod, view: ContainerView): { readonly state: StateField; readonly lastState: StateField } {
  const { state, last } = view;
  const before: StateField = last === undefined ? {} : terminated(last);
  switch (state.is) {
    case 'waiting':
      return { state: waiting(state.reason, state.message), lastState: before };
    case 'running':
      return { state: { running: { startedAt: state.startedAt } }, lastState: before };
    case 'terminated':
      return isInBackoff(pod, view)
        ? { state: waiting('CrashLoopBackOff', backoffMessage(pod, view)), lastState: terminated(state) }
        : { state: terminated(state), lastState: before };
    default:
      return state satisfies never;
  }
}

/** True if an ended container waits before it restarts. */
function isInBackoff(pod: Pod, { state, backoff, name }: ContainerView): boolean {
  if (state.is !== 'terminated' || pod.metadata.deletionTimestamp !== undefined) return false;
  const endedAt = Date.parse(state.finishedAt);
  return shouldRestart(policyFor(pod, name), state.exitCode) && mayStartAt(backoff, endedAt) > endedAt;
}

/** An init container that succeeded never restarts. */
function policyFor(pod: Pod, container: string): string {
  const { initContainers = [], restartPolicy = 'Always' } = specOf(pod);
  const isInit = initContainers.some(({ name }) => name === container);
  return isInit && restartPolicy === 'Always' ? 'OnFailure' : restartPolicy;
}

const backoffMessage = ({ metadata }: Pod, { name, backoff }: ContainerView): string =>
  `back-off ${formatDuration(backoff?.seconds ?? 0)} restarting failed container=${name} pod=${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/** Formats a duration as Go does. */
const formatDuration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;

const waiting = (reason: string, message: string | undefined): StateField => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});

function terminated({ exitCode, reason, message, startedAt, finishedAt, id }: Termination): StateField {
  const optional = message === undefined || message === '' ? {} : { message };
  return { terminated: { exitCode, reason, ...optional, startedAt, finishedAt, containerID: id } };
}

/** Containers wait with reason PodInitializing until all init containers have succeeded. */
export function withInitReason(view: ContainerView, isInitialized: boolean): ContainerView {
  const isWaiting = view.state.is === 'waiting' && view.state.reason === 'ContainerCreating';
  return isInitialized || !isWaiting ? view : { ...view, state: { is: 'waiting', reason: 'PodInitializing' } };
}

export const statusesOf = (pod: Pod, specs: readonly ContainerSpec[], views: Views): readonly ContainerStatus[] =>
  specs.map((spec) => containerStatus(pod, spec, views[spec.name]));
