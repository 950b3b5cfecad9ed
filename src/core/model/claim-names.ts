import type { ClusterIntent } from './intent.ts';
import type { CarrierName } from './names.ts';

/** How many PVCs one member name can have at a time: one in use, and those of removed members of that name that are kept. */
export const mostClaims = 9;

/**
 * The names that the PVC of a member can have, in the order in which they are taken. A PVC has its member's name. Numbered
 * members come back under the name of a removed member whose PVC may still be kept, and then get the next name.
 */
export const claimNamesOf = (member: CarrierName, { memberNames }: Pick<ClusterIntent, 'memberNames'>): string[] =>
  memberNames === 'random'
    ? [member]
    : Array.from({ length: mostClaims }, (_, i) => (i === 0 ? member : `${member}-v${i + 1}`));

/** The member whose PVC has that name. Names of members end in a number, or in ten letters. */
export const memberOfClaim = (claim: string): CarrierName => claim.replace(/-v[2-9]$/, '') as CarrierName;
