import { expect, it } from 'vitest';
import { aWorld, withMember } from '../../test/support/worlds.ts';
import { hasQuorum, quorumOf } from './quorum.ts';

it.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 3],
  [6, 4],
  [7, 4],
])('the quorum of %i voters is %i', (voters, quorum) => expect(quorumOf(voters)).toBe(quorum));

it('learners do not count for quorum', () => {
  const { membership } = aWorld(withMember('db-1', { health: 'silent' }), withMember('db-2', { role: 'learner' }));
  expect(hasQuorum(membership.seen ? membership.value.members : [])).toBe(false);
});
