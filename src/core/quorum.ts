import type { Member } from './model/cluster.ts';
import type { MemberId } from './model/names.ts';

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

export const votersOf = (members: readonly Member[]): readonly Member[] =>
  members.filter((member) => member.role === 'voter');

export function hasQuorum(members: readonly Member[]): boolean {
  const voters = votersOf(members);
  return voters.filter((member) => member.health === 'healthy').length >= quorumOf(voters.length);
}

/** Judges the cluster that would remain, not the one we have: a removal also shrinks the majority that is needed. */
export const survivesRemovalOf = (id: MemberId, members: readonly Member[]): boolean =>
  hasQuorum(members.filter((member) => member.id !== id));
