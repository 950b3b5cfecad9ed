import { describe, expect, it } from 'vitest';
import { aKnownWorld, withMember, withMemberPod } from '../../../test/support/worlds.ts';
import type { KnownWorld, Membership } from '../../core/cluster/model/cluster.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import type { EtcdMember, MemberStatus } from '../../etcd/types.ts';
import { Failure } from '../../std/failure.ts';
import type { Asked } from './observe/membership.ts';
import { SettledClusters, secondsBetweenLooks } from './settled.ts';

const key = 'default/db';
const quiet = aKnownWorld();
const settledVerdict: Verdict = { is: 'settled' };

/** etcd as the members of a world describe it. */
function etcdOf({ membership: { value } }: KnownWorld): { list: EtcdMember[]; status: (name: string) => MemberStatus } {
  const leader = value.members.find(({ leads }) => leads)?.id ?? 0n;
  const list = value.members.map(({ id, name, peerURLs, role }) => ({
    ...{ id, name, peerURLs: [...peerURLs], clientURLs: ['http://x'], isLearner: role === 'learner' },
  }));
  const common = { leader, raftIndex: 9n, raftTerm: 2n, revision: 1n, isLearner: false, dbSize: 1n, errors: [] };
  const status = (name: string): MemberStatus => {
    const { id = 0n, version = '', storageVersion } = value.members.find((member) => member.name === name) ?? {};
    const state = { memberId: id, clusterId: BigInt(`0x${value.clusterId}`), version, ...common };
    return storageVersion === undefined ? state : { ...state, storageVersion };
  };
  return { list, status };
}

type Etcd = ReturnType<typeof etcdOf>;

/** Looks at a cluster that was settled as `before`, and whose etcd answers as `now`. */
async function look(
  before: KnownWorld,
  now: Partial<Etcd>,
  { pods = before.memberPods, hasAskedAll = true, times = 1 } = {},
) {
  const names: string[] = [];
  const rested: string[] = [];
  const settled = new SettledClusters({
    clock: { random: () => 0 },
    clusters: () => 1,
    rest: (each) => void rested.push(each),
  });
  settled.end(key, { verdict: settledVerdict, observed: { world: before, hasAskedAll } });
  const etcd = { ...etcdOf(before), ...now };
  const asked = before.memberPods.map(
    ({ name }): Asked => ({
      name,
      connection: {
        status: async () => {
          names.push(name);
          return etcd.status(name);
        },
        memberList: async () => etcd.list,
      },
      asking: { signal: new AbortController().signal, timeoutMillis: 1_000 },
    }),
  );
  let seen: Awaited<ReturnType<typeof settled.look>>;
  for (let time = 0; time < times; time++) seen = await settled.look(key, pods, asked);
  return { seen, names, rested, size: settled.size };
}

const statusWith = (change: Partial<MemberStatus>): Partial<Etcd> => ({
  status: (name) => ({ ...etcdOf(quiet).status(name), ...change }),
});
const listWith = (change: (member: EtcdMember, index: number) => EtcdMember): Partial<Etcd> => ({
  list: etcdOf(quiet).list.map(change),
});

describe('a settled cluster', () => {
  it('is confirmed by one member in turn, and its connections rest', async () => {
    const { seen, names, rested } = await look(quiet, {}, { times: 4 });
    expect(seen).toEqual({ seen: true, value: quiet.membership.value satisfies Membership });
    const members = quiet.memberPods.map(({ name }) => name);
    expect(names).toEqual([...members, members[0]]);
    expect(rested).toEqual([key]);
  });

  it('has all members asked after twenty looks', async () => {
    expect((await look(quiet, {}, { times: 20 })).seen).toBeDefined();
    expect((await look(quiet, {}, { times: 21 })).seen).toBeUndefined();
  });

  const refused = () => {
    throw new Failure('unreachable', 'no answer');
  };
  it.each<[string, Partial<Etcd>]>([
    ['no answer', { status: refused }],
    ['no leader', statusWith({ leader: 0n })],
    ['another leader', statusWith({ leader: quiet.membership.value.members[1]?.id ?? 0n })],
    ['another cluster ID', statusWith({ clusterId: 99n })],
    ['another version', statusWith({ version: '3.6.1' })],
    ['an alarm of another member', statusWith({ errors: ['memberID:2 alarm:NOSPACE '] })],
    ['an alarm of a removed member', statusWith({ errors: ['memberID:99 alarm:CORRUPT '] })],
    ['an enabled downgrade', statusWith({ downgradeTarget: '3.5.0' })],
    ['no vote', statusWith({ isLearner: true })],
    ['a member less', { list: etcdOf(quiet).list.slice(0, 2) }],
    [
      'a member more',
      {
        list: [
          ...etcdOf(quiet).list,
          { id: 9n, name: 'x', peerURLs: ['http://x:1'], clientURLs: [], isLearner: false },
        ],
      },
    ],
    ['a member with another ID', listWith((member, index) => (index === 2 ? { ...member, id: 9n } : member))],
    ['a learner', listWith((member, index) => ({ ...member, isLearner: index === 2 }))],
    ['another peer URL', listWith((member) => ({ ...member, peerURLs: [...member.peerURLs, 'http://more:1'] }))],
  ])('has all members asked after %s', async (_, now) => {
    expect((await look(quiet, now)).seen).toBeUndefined();
  });

  it.each([
    ['became unready', withMemberPod('db-1', { ready: false })],
    ['is another', withMemberPod('db-1', { uid: 'another' })],
    ['has another image', withMemberPod('db-1', { image: 'etcd:v3.6.1' })],
    ['is stopping', withMemberPod('db-1', { phase: 'stopping' })],
  ])('has all members asked if a pod %s', async (_, change) => {
    expect((await look(quiet, {}, { pods: change(quiet).memberPods })).seen).toBeUndefined();
  });

  it.each([
    ['a silent member', withMember('db-1', { health: 'silent' })],
    ['a learner', withMember('db-1', { role: 'learner' })],
    ['an alarm', withMember('db-1', { alarms: ['NOSPACE'] })],
    ['etcd before 3.5', withMember('db-1', { version: '3.4.31' })],
    ['an unready pod', withMemberPod('db-1', { ready: false })],
    ['a probe that only opens a port', withMemberPod('db-1', { listensOnly: true })],
  ])('is not remembered with %s', async (_, change) => {
    expect((await look(aKnownWorld(change), {})).size).toBe(0);
  });

  it('is not remembered by the answer of one member', async () => {
    expect((await look(quiet, {}, { hasAskedAll: false })).size).toBe(0);
  });

  it('is forgotten when its verdict is another', () => {
    const settled = new SettledClusters({ clock: { random: () => 0 }, clusters: () => 1, rest: () => {} });
    settled.end(key, { verdict: settledVerdict, observed: { world: quiet, hasAskedAll: true } });
    expect(settled.size).toBe(1);
    settled.end(key, {
      verdict: { is: 'wait', reason: 'Forming', message: '' },
      observed: { world: quiet, hasAskedAll: true },
    });
    expect(settled.size).toBe(0);
  });
});

it('settled clusters are asked every 10 s, and with a large fleet every 50 s', () => {
  expect([1, 160, 500, 1_000, 10_000].map(secondsBetweenLooks)).toEqual([10, 10, 30, 50, 50]);
});
