import type { Pod, Stored } from '../../kube/object.ts';

export const isReady = (pod: Stored<Pod>): boolean => readiness(pod)?.status === 'True';

const readiness = (pod: Stored<Pod>) => pod.status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * Whether Kubernetes has declared the pod's node not ready. The pod says so itself, and no right to read Nodes is needed: its
 * kubelet always calls pod and containers unready together, so that a pod which alone is unready was called so by the control
 * plane.
 */
export const isNodeLost = (pod: Stored<Pod>): boolean =>
  pod.status?.reason === 'NodeLost' || readiness(pod)?.reason === 'NodeNotReady' || isUnreadyByItself(pod);

const isUnreadyByItself = (pod: Stored<Pod>): boolean =>
  readiness(pod)?.status === 'False' && areContainersReady(pod) && !pod.spec?.readinessGates?.length;

const areContainersReady = ({ status }: Stored<Pod>): boolean =>
  status?.conditions?.find(({ type }) => type === 'ContainersReady')?.status === 'True';

export const readySince = (pod: Stored<Pod>): number | undefined =>
  isReady(pod) ? Date.parse(readiness(pod)?.lastTransitionTime ?? '') || undefined : undefined;

/** True if the kubelet only opens a connection to find out whether etcd is ready. */
export const listensOnly = ({ spec }: Stored<Pod>): boolean =>
  spec?.containers?.find(({ name }) => name === 'etcd')?.readinessProbe?.httpGet === undefined;

/** How long a pod that is being deleted may take to stop, in milliseconds. */
export const graceOf = ({ metadata }: Stored<Pod>): number | undefined =>
  metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0) * 1000;

/** How long after a start the kubelet may still speak of the end of the run before. */
const longestUntilSeenMillis = 5_000;

/**
 * Whether it was ready since its container started, and is no more. Both times are its kubelet's own, so that it does not
 * matter whether they are right.
 */
export function hasFallenUnready(pod: Stored<Pod>, started: string | undefined): boolean {
  const since = readiness(pod)?.lastTransitionTime;
  if (isReady(pod) || since === undefined || started === undefined) return false;
  return Date.parse(since) - Date.parse(started) > longestUntilSeenMillis;
}

/** When it was last given another image, it began anew: it is not to blame for what the one before did not do. */
export function unreadySince(pod: Stored<Pod>, changed: string | undefined): number | undefined {
  if (isReady(pod)) return undefined;
  const since = Date.parse(readiness(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return Math.max(since, changed === undefined ? since : Date.parse(changed) || since);
}
