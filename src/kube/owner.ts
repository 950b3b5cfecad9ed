import type { KubeObject } from './object.ts';

/** True if an ownerReference of the object has the UID. */
export const isOwnedBy = ({ metadata }: Pick<KubeObject, 'metadata'>, uid: string | undefined): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
