import type { Pod, Stored } from '../../../kube/object.ts';

export const isReady = (pod: Stored<Pod>): boolean => readiness(pod)?.status === 'True';

const readiness = (pod: Stored<Pod>) => pod.status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * True if Kubernetes has declared the node of the pod not ready, without the right to read Nodes. A kubelet sets pod
 * and containers unready together. So an unready pod with ready containers was set unready by the control plane.
 */
export const isNodeLost = (pod: Stored<Pod>): boolean =>
  pod.status?.reason === 'NodeLost' || readiness(pod)?.reason === 'NodeNotReady' || isUnreadyWithReadyContainers(pod);

const isUnreadyWithReadyContainers = (pod: Stored<Pod>): boolean =>
  readiness(pod)?.status === 'False' && areContainersReady(pod) && !pod.spec?.readinessGates?.length;

const areContainersReady = ({ status }: Stored<Pod>): boolean =>
  status?.conditions?.find(({ type }) => type === 'ContainersReady')?.status === 'True';

export const readySince = (pod: Stored<Pod>): number | undefined =>
  isReady(pod) ? Date.parse(readiness(pod)?.lastTransitionTime ?? '') || undefined : undefined;

/** True if the readiness probe only opens a connection. */
export const listensOnly = ({ spec }: Stored<Pod>): boolean =>
  spec?.containers?.find(({ name }) => name === 'etcd')?.readinessProbe?.httpGet === undefined;

/** The grace period of a terminating pod, in milliseconds. */
export const graceOf = ({ metadata }: Stored<Pod>): number | undefined =>
  metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0) * 1000;

/** How long after a start the kubelet may still report the end of the previous run. */
const reportDelayMillis = 5_000;

/**
 * True if the pod was ready after its container started, and is unready now. Both times are from the clock of the
 * kubelet, so clock skew does not matter.
 */
export function hasFallenUnready(pod: Stored<Pod>, started: string | undefined): boolean {
  const since = readiness(pod)?.lastTransitionTime;
  if (isReady(pod) || since === undefined || started === undefined) return false;
  return Date.parse(since) - Date.parse(started) > reportDelayMillis;
}

/** The kubelet reports a new pod as unready about when it sets the start time; both times have whole seconds. */
const firstReportMillis = 2_000;

/**
 * True if the pod is or has been ready. A restart of the container does not change the time of the condition. Both
 * times are from the clock of the kubelet.
 */
export function hasBeenReady(pod: Stored<Pod>): boolean {
  const since = readiness(pod)?.lastTransitionTime;
  const { startTime } = pod.status ?? {};
  if (isReady(pod)) return true;
  if (since === undefined || startTime === undefined) return false;
  return Date.parse(since) - Date.parse(startTime) > firstReportMillis;
}

/** Since when the pod is unready. The time starts again when the image is changed. */
export function unreadySince(pod: Stored<Pod>, changed: string | undefined): number | undefined {
  if (isReady(pod)) return undefined;
  const since = Date.parse(readiness(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return Math.max(since, changed === undefined ? since : Date.parse(changed) || since);
}
