interface Owned {
  readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] | undefined };
}

/** True if an ownerReference of the object has this UID. */
export const isOwnedBy = ({ metadata }: Owned, uid: string | undefined): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
