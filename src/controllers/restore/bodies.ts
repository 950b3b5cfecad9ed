import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Body, RestoreIntent } from '../../core/model/restore.ts';
import type { KubeObject, PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../kube/resource.ts';
import { slim } from '../../runtime/slim.ts';
import { agentLabel } from '../agents/agent-of-pod.ts';
import type { RestoreTools } from './sources.ts';

export interface Bodies {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
}

/** Everything in the namespace that could belong to the cluster or to the restore: labels are what the restore changes. */
export async function bodiesIn({ namespace }: RestoreIntent, { client }: RestoreTools): Promise<Bodies> {
  const [foundPods, foundClaims] = await Promise.all([
    client.list(pods, { namespace, each: slim }),
    client.list(persistentVolumeClaims, { namespace, each: slim }),
  ]);
  return { pods: foundPods.items, claims: foundClaims.items };
}

export const isOwnedBy = ({ metadata }: KubeObject, uid: string): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

/** On what belongs to a restore. */
export const labelsOf = ({ dialect }: Pick<RestoreTools, 'dialect'>): Readonly<Record<string, string>> => ({
  app: 'etcd-restore',
  [agentLabel(dialect.group)]: 'restore',
});

/** On what was made for a restore: that restore, by its uid. */
export const madeByAnnotation = ({ group }: { readonly group: string }): string => `${group}/restored-by`;

/** Whether it was made for the restore: it belongs to it, and says so still when it has become the cluster's. */
export const isMadeFor = (
  object: KubeObject,
  { uid }: Pick<RestoreIntent, 'uid'>,
  { dialect }: Pick<RestoreTools, 'dialect'>,
): boolean => isOwnedBy(object, uid) || object.metadata.annotations?.[madeByAnnotation(dialect)] === uid;

/** Whether a PVC without an owner is a cluster's all the same: its labels say so, since volumes may outlive clusters. */
export const isLeftTo = (cluster: KubeObject | undefined, { metadata }: KubeObject, { naming }: Blueprint): boolean =>
  cluster !== undefined &&
  !metadata.ownerReferences?.length &&
  Object.entries(naming.clusterLabels).every(([label, value]) => metadata.labels?.[label] === value);

export const bodyOf = ({ metadata: { name, uid, deletionTimestamp } }: Stored<KubeObject>): Body => ({
  name,
  uid,
  isGoing: deletionTimestamp !== undefined,
});
