import { text } from '../schema/rule.ts';

const longest = 253;

export const heldBy = text(longest).describe('heldBy is the UID of the restore that pauses the cluster.');

/** The UID is copied from an annotation of any length. The API server refuses a status with a longer text. */
export const heldByIn = ({ heldBy: uid }: { readonly heldBy?: string | undefined }): string | undefined =>
  uid?.slice(0, longest);
