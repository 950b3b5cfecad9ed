import { describe, expect, it } from 'vitest';
import { aCarrier, aMember, nameOf } from '../../../test/support/worlds.ts';
import type { Carrier, Member } from '../../core/model/cluster.ts';
import { EtcdFailure } from '../../etcd/errors.ts';
import type { Failure } from '../../std/failure.ts';
import { type Asked, seeMembership, withLeavers } from './membership.ts';

const [name, id] = [nameOf('db-1'), 1];
const healthOf = (member: Partial<Member>, carrier: Partial<Carrier>): string => {
  const value = { clusterId: 'c', members: [{ ...aMember(name, id), ...member }] };
  const sighting = withLeavers({ seen: true, value }, [{ ...aCarrier(name), ...carrier }]);
  return sighting.seen ? (sighting.value.members[0]?.health ?? '') : '';
};

/** A cluster of one, which says this of itself. */
async function seenOf(said: object): Promise<Member | undefined> {
  const status = { memberId: 1n, clusterId: 9n, leader: 1n, version: '3.5.35', errors: [], isLearner: false, ...said };
  const listed = { id: 1n, name: 'db-1', peerURLs: ['http://db-1.db:2380'], clientURLs: ['http://db-1.db:2379'] };
  const connection = { status: async () => status, memberList: async () => [listed] };
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  const sighting = await seeMembership([{ name, connection: connection as unknown as Asked['connection'], asking }]);
  return sighting.seen ? sighting.value.members[0] : undefined;
}

describe('a member', () => {
  it.each(['3.5.35', '3.5.35+git.1', '3.5.35-rc.0'])(
    'that runs %s is of that release, whoever built it',
    async (version) => expect((await seenOf({ version }))?.version).toBe('3.5.35'),
  );
  it('tells of alarms, and of nothing else in that way', async () => {
    const errors = ['memberID:1 alarm:NOSPACE ', 'etcdserver: no leader'];
    expect((await seenOf({ errors }))?.alarms).toEqual(['NOSPACE']);
    expect((await seenOf({}))?.alarms).toEqual([]);
  });
  it('that has been told to stop is leaving, however well it answers', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'stopping' })).toBe('leaving'));
  it('that nobody told to stop is what it says', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'running' })).toBe('healthy'));
  it('that does not answer is silent, whether it was told to stop or not', () =>
    expect(healthOf({ health: 'silent' }, { phase: 'stopping' })).toBe('silent'));
});

describe('an alarm', () => {
  it('belongs to the member that raised it, whichever member tells of it, and is kept when that member is gone', async () => {
    const errors = ['memberID:1 alarm:CORRUPT ', 'memberID:77  alarm:NOSPACE ', 'alarm:NOSPACE'];
    const status = { memberId: 2n, clusterId: 9n, leader: 2n, version: '3.5.35', errors, isLearner: false };
    const listed = (n: bigint) => ({ id: n, name: `db-${n}`, peerURLs: [`http://db-${n}.db:2380`], clientURLs: [] });
    const connection = { status: async () => status, memberList: async () => [listed(1n), listed(2n)] };
    const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
    const sighting = await seeMembership([
      { name: nameOf('db-2'), connection: connection as unknown as Asked['connection'], asking },
    ]);
    expect(sighting).toMatchObject({
      value: {
        members: [
          { name: 'db-1', alarms: ['CORRUPT'] },
          { name: 'db-2', alarms: ['NOSPACE'] },
        ],
        leftAlarms: ['NOSPACE'],
      },
    });
  });
});

describe('etcd that cannot be asked', () => {
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  const whyWhen = async (thrown: Failure): Promise<object> => {
    const connection = { status: () => Promise.reject(thrown), memberList: async () => [] };
    return await seeMembership([{ name, connection, asking }]);
  };
  const raw = 'Status of http://10.0.0.1:2379: no connection: connect ECONNREFUSED 10.0.0.1:2379 (ECONNREFUSED)';
  const failed = (obstacle: EtcdFailure['obstacle']): Failure =>
    new EtcdFailure('unreachable', raw, { obstacle, mayBeDone: false });

  it.each<[string, EtcdFailure['obstacle']]>([
    ['no connection to etcd can be made', { is: 'connection' }],
    ['etcd does not answer in time', { is: 'timeout' }],
    ['the TLS handshake with etcd failed: certificate has expired', { is: 'tls', says: 'certificate has expired' }],
    ['etcd cannot be asked', undefined],
  ])('is said to be so in plain words: %s', async (why, obstacle) => {
    expect(await whyWhen(failed(obstacle))).toEqual({ seen: false, why, detail: raw });
  });

  it('says what it refuses in its own words', async () => {
    const refused = new EtcdFailure('forbidden', 'etcdserver: permission denied', { mayBeDone: false });
    expect(await whyWhen(refused)).toMatchObject({ seen: false, why: 'etcdserver: permission denied' });
  });
});

describe('somebody who has got the address of a member', () => {
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  /** A cluster of one, which is asked in place of the member of that name. */
  const asked = (as: string, member: { name: string; id: bigint; clusterId: bigint }): Asked => {
    const { name: own, id: memberId, clusterId } = member;
    const errors = own === 'other-0' ? ['memberID:7 alarm:CORRUPT '] : [];
    const status = { memberId, clusterId, leader: memberId, version: '3.5.35', errors, isLearner: false };
    const listed = { id: memberId, name: own, peerURLs: [`http://${own}.db:2380`], clientURLs: [] };
    const connection = { status: async () => status, memberList: async () => [listed] };
    return { name: nameOf(as), connection: connection as unknown as Asked['connection'], asking };
  };
  const stranger = asked('db-0', { name: 'other-0', id: 7n, clusterId: 77n });

  it('is not taken for a cluster that has formed', async () => {
    const why = 'other-0 answers at the address of db-0';
    expect(await seeMembership([stranger])).toEqual({ seen: false, why });
  });
  it('is passed over where a member answers, and so are its alarms', async () => {
    const sighting = await seeMembership([stranger, asked('db-1', { name: 'db-1', id: 1n, clusterId: 9n })]);
    expect(sighting).toMatchObject({ seen: true, value: { clusterId: '9', members: [{ name: 'db-1', alarms: [] }] } });
    expect(sighting.seen ? sighting.value : {}).not.toHaveProperty('leftAlarms');
  });
});
