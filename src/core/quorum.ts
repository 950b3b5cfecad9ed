import type { Member } from './cluster/model/cluster.ts';
import type { MemberId } from './cluster/model/names.ts';

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

export const votersOf = (members: readonly Member[]): readonly Member[] =>
  members.filter((member) => member.role === 'voter');

export function hasQuorum(members: readonly Member[]): boolean {
  const voters = votersOf(members);
  return voters.filter((member) => member.health === 'healthy').length >= quorumOf(voters.length);
}

/**
 * True if the members that remain after the removal have quorum. A removal also lowers the number needed for quorum.
 */
export const survivesRemovalOf = (id: MemberId, members: readonly Member[]): boolean =>
  hasQuorum(members.filter((member) => member.id !== id));
