import { expect, it } from 'vitest';
import { aKnownWorld, wanting, withIntent, withMember } from '../../../../../test/support/worlds.ts';
import { shrinkByOne } from './shrink-by-one.ts';

const silent = (name: string) => withMember(name, { health: 'silent', leads: false });

it('a surplus member is removed', () =>
  expect(shrinkByOne(aKnownWorld(wanting(2)))).toMatchObject({ is: 'act', steps: [{ kind: 'remove-member' }] }));

it('a surplus unreachable member is removed before healthy members', () =>
  expect(shrinkByOne(aKnownWorld(wanting(2), silent('db-1')))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-1' }],
  }));

it('no member is removed if the rest would lose quorum', () =>
  expect(shrinkByOne(aKnownWorld(wanting(2), silent('db-1'), silent('db-2')))).toMatchObject({
    is: 'wait',
    message: expect.stringContaining('would lose quorum'),
  }));

it('with numbered names the leadership of the highest number is transferred to the lowest before its removal', () => {
  const ordinal = withIntent({ memberNames: 'ordinal' });
  const led = [withMember('db-0', { leads: false }), withMember('db-2', { leads: true })];
  expect(shrinkByOne(aKnownWorld(wanting(2), ordinal, ...led))).toMatchObject({
    steps: [{ kind: 'transfer-leadership', name: 'db-0' }],
  });
  expect(shrinkByOne(aKnownWorld(wanting(2), ordinal))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-2' }],
  });
});

it('with random names a follower is removed before the leader', () =>
  expect(shrinkByOne(aKnownWorld(wanting(2)))).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-1' }] }));
