import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { ObjectRef, RestoreIntent } from '../../core/restore/model.ts';
import type { KubeObject, Pod, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../kube/resource.ts';
import { slim } from '../../runtime/slim.ts';
import { isOwnedBy } from '../../std/owner.ts';
import type { PodsAndPvcs } from '../cluster/observe/members.ts';
import { agentLabel } from '../shared/agent-pods.ts';
import type { RestoreContext } from './context.ts';

/** Lists all Pods and PVCs of the namespace. No label selector is used, because the restore changes labels. */
export async function podsAndPvcsIn({ namespace }: RestoreIntent, { client }: RestoreContext): Promise<PodsAndPvcs> {
  const [foundPods, foundClaims] = await Promise.all([
    client.list(pods, { namespace, each: slim }),
    client.list(persistentVolumeClaims, { namespace, each: slim }),
  ]);
  return { pods: foundPods.items, claims: foundClaims.items };
}

/** Labels of Pods and PVCs that belong to a restore. */
export const labelsOf = ({ dialect }: Pick<RestoreContext, 'dialect'>): Readonly<Record<string, string>> => ({
  app: 'etcd-restore',
  [agentLabel(dialect.group)]: 'restore',
});

/** Annotation with the UID of the restore that created the object. */
export const madeByAnnotation = ({ group }: { readonly group: string }): string => `${group}/restored-by`;

/** True if the restore created the object. The annotation stays after the object is handed over to the cluster. */
export const isMadeFor = (
  object: KubeObject,
  { uid }: Pick<RestoreIntent, 'uid'>,
  { dialect }: Pick<RestoreContext, 'dialect'>,
): boolean => isOwnedBy(object, uid) || object.metadata.annotations?.[madeByAnnotation(dialect)] === uid;

/** True if a PVC without an owner has the labels of the cluster: PVCs may outlive their cluster. */
export const isLabelledFor = (
  cluster: KubeObject | undefined,
  { metadata }: KubeObject,
  { naming }: Blueprint,
): boolean =>
  cluster !== undefined &&
  !metadata.ownerReferences?.length &&
  Object.entries(naming.clusterLabels).every(([label, value]) => metadata.labels?.[label] === value);

export const objectRef = ({ metadata: { name, uid, deletionTimestamp } }: Stored<KubeObject>): ObjectRef => ({
  name,
  uid,
  isTerminating: deletionTimestamp !== undefined,
});

/** `overdue` holds the UIDs of Pods that take too long to terminate. */
export const terminatingRef = (pod: Stored<Pod>, overdue: ReadonlySet<string>): ObjectRef => ({
  ...objectRef(pod),
  isOverdue: overdue.has(pod.metadata.uid),
});
