import type { ClusterIntent } from './intent.ts';
import type { MemberName } from './names.ts';

/** The maximum number of PVCs for one member name: one in use, and retained PVCs of removed members with that name. */
export const mostClaims = 9;

/**
 * The possible PVC names of a member, in the order of their use. The first is the member's name. A numbered member can
 * have the name of a removed member with a retained PVC; its PVC then gets the next name.
 */
export const claimNamesOf = (member: MemberName, { memberNames }: Pick<ClusterIntent, 'memberNames'>): string[] =>
  memberNames === 'random'
    ? [member]
    : Array.from({ length: mostClaims }, (_, i) => (i === 0 ? member : `${member}-v${i + 1}`));

/** The member of a PVC, by the PVC's name. Member names end in a number or in ten letters. */
export const memberOfClaim = (claim: string): MemberName => claim.replace(/-v[2-9]$/, '') as MemberName;
