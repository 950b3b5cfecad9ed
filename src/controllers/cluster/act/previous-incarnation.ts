import type { KubeObject, Stored } from '../../../kube/object.ts';
import type { StepContext } from './step-context.ts';

/**
 * True if an object is being deleted, or belongs to a previous cluster with the same name and will be deleted with it.
 */
export function isOfPreviousCluster(
  { metadata }: Stored<KubeObject>,
  { blueprint: { owner } }: Pick<StepContext, 'blueprint'>,
): boolean {
  const { deletionTimestamp, ownerReferences = [] } = metadata;
  const isFormer = ({ kind, name, uid }: (typeof ownerReferences)[number]): boolean =>
    kind === owner.kind && name === owner.name && uid !== owner.uid;
  return deletionTimestamp !== undefined || ownerReferences.some(isFormer);
}

/** How long a deletion may take before it is reported. */
const overdueMillis = 60_000;

/** True if an object still exists long after its deletion. */
export function isDeletionOverdue(
  { metadata }: Stored<KubeObject>,
  { controller }: Pick<StepContext, 'controller'>,
): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && controller.now().getTime() - Date.parse(deletionTimestamp) > overdueMillis;
}

const remedies = {
  Pod: 'check its node, or delete it with --force',
  PersistentVolumeClaim: 'check which pod still mounts it',
};

export const notDeletedMessage = (kind: keyof typeof remedies, name: string): string =>
  `${kind} ${name} of a previous cluster with this name is not deleted: ${remedies[kind]}`;
