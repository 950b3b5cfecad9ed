import { describe, expect, it } from 'vitest';
import { aMember, aMemberPod, nameOf } from '../../../../test/support/worlds.ts';
import type { Member, MemberPod } from '../../../core/cluster/model/cluster.ts';
import { EtcdFailure } from '../../../etcd/errors.ts';
import type { Failure } from '../../../std/failure.ts';
import { type Asked, readMembership, withStoppingMembers } from './membership.ts';

const [name, id] = [nameOf('db-1'), 1];
const healthOf = (member: Partial<Member>, memberPod: Partial<MemberPod>): string => {
  const value = { clusterId: 'c', members: [{ ...aMember(name, id), ...member }] };
  const observation = withStoppingMembers({ seen: true, value }, [{ ...aMemberPod(name), ...memberPod }]);
  return observation.seen ? (observation.value.members[0]?.health ?? '') : '';
};

/** A cluster of one member with this status. */
async function memberWith(changes: object): Promise<Member | undefined> {
  const status = {
    memberId: 1n,
    clusterId: 9n,
    leader: 1n,
    version: '3.5.35',
    errors: [],
    isLearner: false,
    ...changes,
  };
  const listed = { id: 1n, name: 'db-1', peerURLs: ['http://db-1.db:2380'], clientURLs: ['http://db-1.db:2379'] };
  const connection = { status: async () => status, memberList: async () => [listed] };
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  const observation = await readMembership([
    { name, connection: connection as unknown as Asked['connection'], asking },
  ]);
  return observation.seen ? observation.value.members[0] : undefined;
}

describe('a member', () => {
  it.each(['3.5.35', '3.5.35+git.1', '3.5.35-rc.0'])(
    'of a custom build %s has the version of that release',
    async (version) => expect((await memberWith({ version }))?.version).toBe('3.5.35'),
  );
  it('has only the alarms among its errors as alarms', async () => {
    const errors = ['memberID:1 alarm:NOSPACE ', 'etcdserver: no leader'];
    expect((await memberWith({ errors }))?.alarms).toEqual(['NOSPACE']);
    expect((await memberWith({}))?.alarms).toEqual([]);
  });
  it('with a stopping pod is leaving, although it answers', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'stopping' })).toBe('leaving'));
  it('with a running pod has the health that it reports', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'running' })).toBe('healthy'));
  it('that does not answer is silent, also with a stopping pod', () =>
    expect(healthOf({ health: 'silent' }, { phase: 'stopping' })).toBe('silent'));
});

describe('an alarm', () => {
  it('belongs to the member that raised it, whichever member reports it, and is kept after the removal of that member', async () => {
    const errors = ['memberID:1 alarm:CORRUPT ', 'memberID:77  alarm:NOSPACE ', 'alarm:NOSPACE'];
    const status = { memberId: 2n, clusterId: 9n, leader: 2n, version: '3.5.35', errors, isLearner: false };
    const listed = (n: bigint) => ({ id: n, name: `db-${n}`, peerURLs: [`http://db-${n}.db:2380`], clientURLs: [] });
    const connection = { status: async () => status, memberList: async () => [listed(1n), listed(2n)] };
    const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
    const observation = await readMembership([
      { name: nameOf('db-2'), connection: connection as unknown as Asked['connection'], asking },
    ]);
    expect(observation).toMatchObject({
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

describe('unreachable etcd', () => {
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  const whyWhen = async (thrown: Failure): Promise<object> => {
    const connection = { status: () => Promise.reject(thrown), memberList: async () => [] };
    return await readMembership([{ name, connection, asking }]);
  };
  const raw = 'Status of http://10.0.0.1:2379: no connection: connect ECONNREFUSED 10.0.0.1:2379 (ECONNREFUSED)';
  const failed = (obstacle: EtcdFailure['obstacle']): Failure =>
    new EtcdFailure('unreachable', raw, { obstacle, mayBeDone: false });

  it.each<[string, EtcdFailure['obstacle']]>([
    ['no connection to etcd', { is: 'connection' }],
    ['etcd does not answer in time', { is: 'timeout' }],
    ['the TLS handshake with etcd failed: certificate has expired', { is: 'tls', message: 'certificate has expired' }],
    ['etcd is unreachable', undefined],
  ])('is reported in plain words: %s', async (why, obstacle) => {
    expect(await whyWhen(failed(obstacle))).toEqual({ seen: false, why, detail: raw });
  });

  it('is reported with the refusal of etcd', async () => {
    const refused = new EtcdFailure('forbidden', 'etcdserver: permission denied', { mayBeDone: false });
    expect(await whyWhen(refused)).toMatchObject({ seen: false, why: 'etcdserver: permission denied' });
  });
});

describe('a member of another cluster at the address of a member', () => {
  const asking = { signal: new AbortController().signal, timeoutMillis: 1 };
  /** A cluster of one member that answers at the address of `as`. */
  const asked = (as: string, member: { name: string; id: bigint; clusterId: bigint }): Asked => {
    const { name: own, id: memberId, clusterId } = member;
    const errors = own === 'other-0' ? ['memberID:7 alarm:CORRUPT '] : [];
    const status = { memberId, clusterId, leader: memberId, version: '3.5.35', errors, isLearner: false };
    const listed = { id: memberId, name: own, peerURLs: [`http://${own}.db:2380`], clientURLs: [] };
    const connection = { status: async () => status, memberList: async () => [listed] };
    return { name: nameOf(as), connection: connection as unknown as Asked['connection'], asking };
  };
  const foreignMember = asked('db-0', { name: 'other-0', id: 7n, clusterId: 77n });

  it('does not count as a formed cluster', async () => {
    const why = 'other-0 answers at the address of db-0';
    expect(await readMembership([foreignMember])).toEqual({ seen: false, why });
  });
  it('is ignored with its alarms if another member answers', async () => {
    const observation = await readMembership([foreignMember, asked('db-1', { name: 'db-1', id: 1n, clusterId: 9n })]);
    expect(observation).toMatchObject({
      seen: true,
      value: { clusterId: '9', members: [{ name: 'db-1', alarms: [] }] },
    });
    expect(observation.seen ? observation.value : {}).not.toHaveProperty('leftAlarms');
  });
});
