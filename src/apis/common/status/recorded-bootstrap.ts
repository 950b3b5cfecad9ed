import type { Bootstrap } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';

interface Stored extends Omit<Bootstrap, 'members'> {
  readonly members: readonly string[];
}

/** The bootstrap members that a status records. A member that a user lists twice counts once: it has one pod. */
export const recordedBootstrap = (stored: Stored | undefined): Bootstrap | undefined =>
  stored && { ...stored, members: [...new Set(stored.members)] as MemberName[] };
