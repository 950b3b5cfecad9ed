import type { Pod, Stored } from '../../src/kube/object.ts';
import type { StoredObject } from './simulated-objects.ts';

export const annotated = ({ annotations = {} }: Stored<Pod>['metadata'], name: string): string | undefined =>
  annotations[`etcd.database.coreos.com/${name}`];

export const withoutDigest = (version: string): string => version.replace(/@.*$/, '');

/** The version in the image tag of a pod's spec, with the digest if the image has one. */
export const versionOf = ({ spec }: Stored<Pod>): string => spec?.containers?.[0]?.image?.split(':v')[1] ?? '';

/** The image that the kubelet reports for a pod. */
export const imageIn = ({ status }: Stored<Pod>): string | undefined => status?.containerStatuses?.[0]?.image;

interface Observed {
  readonly isUp: boolean;
  readonly image: string | undefined;
  readonly now: Date;
}

const restartsOf = ({ status }: Stored<Pod>): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

const isAnother = (image: string | undefined, before: string | undefined): boolean =>
  image !== undefined && before !== undefined && image !== before;

/** The pod status that a kubelet reports. */
export function statusOf(pod: Stored<Pod>, { isUp, image, now }: Observed): object {
  const ready = { type: 'Ready', status: isUp ? 'True' : 'False', lastTransitionTime: now.toISOString() };
  const was = pod.status?.conditions?.[0];
  const restartCount = restartsOf(pod) + Number(isAnother(image, imageIn(pod)));
  return {
    ...{ phase: 'Running', podIP: pod.metadata.name, conditions: [was?.status === ready.status ? was : ready] },
    containerStatuses: [
      { name: 'etcd', image: image ?? imageIn(pod), imageID: '', restartCount, state: { running: {} } },
    ],
  };
}

/** True if the client Service leads to the pod. */
export const isReachable = ({ metadata, status }: StoredObject): boolean =>
  metadata.labels?.['etcd.database.coreos.com/serving'] === 'true' &&
  ((status ?? {}) as NonNullable<Pod['status']>).conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ===
    true;

/** The EndpointSlice of a client Service. */
export const sliceOf = (names: readonly string[]): object => ({
  metadata: { name: 'db-client-1' },
  endpoints: names.map((name) => ({ targetRef: { kind: 'Pod', name } })),
});
