import { expect, it } from 'vitest';
import { nameOf } from '../../../../test/support/worlds.ts';
import { Failure } from '../../../std/failure.ts';
import { type Asked, readMembership } from './membership.ts';

const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
const listed = [1n, 2n].map((id) => ({ id, name: `db-${id}`, peerURLs: [`http://db-${id}.db:2380`], clientURLs: [] }));

/** A member with this status. Without `hasQuorum`, it returns only its own list. */
function member(id: bigint, status: object, hasQuorum: boolean): Asked {
  const memberList = async ({ linearizable }: { linearizable: boolean }) => {
    if (linearizable && !hasQuorum) throw new Failure('unreachable', 'no leader');
    return listed;
  };
  const whole = { memberId: id, clusterId: 9n, leader: 1n, version: '3.5.35', errors: [], isLearner: false, ...status };
  return { name: nameOf(`db-${id}`), connection: { status: async () => whole, memberList } as never, asking };
}

it('the member list of a member without quorum is unconfirmed', async () => {
  const members = [{ name: 'db-1' }, { name: 'db-2' }];
  expect(await readMembership([member(1n, {}, false)])).toMatchObject({ seen: false, unconfirmed: { members } });
  expect(await readMembership([member(1n, {}, true)])).toMatchObject({ seen: true, value: { members } });
});

it('the member list of a learner is not used', async () => {
  const asked = [member(1n, {}, false), member(2n, { isLearner: true }, true)];
  expect(await readMembership(asked)).toMatchObject({ seen: false });
});

it.each([
  ['without a leader', { leader: 0n }],
  ['of another cluster', { clusterId: 10n, leader: 7n }],
])('a member %s that answers is lost, not healthy', async (_, status) => {
  const members = [{ health: 'healthy' }, { health: 'lost' }];
  const observation = await readMembership([member(1n, {}, true), member(2n, status, false)]);
  expect(observation).toMatchObject({ seen: true, value: { members } });
});
