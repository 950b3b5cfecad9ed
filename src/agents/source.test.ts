import { afterEach, describe, expect, it } from 'vitest';
import { type FakeEtcd, startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { AlarmType } from '../etcd/gen/etcd_pb.ts';
import { openSource } from './source.ts';

const signal = new AbortController().signal;
const started: FakeEtcd[] = [];
afterEach(async () => {
  for (const each of started.splice(0)) await each[Symbol.asyncDispose]();
});

interface Member {
  readonly id: bigint;
  readonly revision: bigint;
  readonly cluster?: bigint;
  readonly leader?: bigint;
  readonly isLearner?: boolean;
  readonly version?: string;
  /** As in its status. */
  readonly errors?: readonly string[];
  /** As it answers when asked for alarms. */
  readonly alarms?: readonly { readonly memberId: bigint; readonly alarm: AlarmType }[];
}

/** A member that says so of itself. */
async function member({ id, revision, cluster = 0xaan, ...more }: Member): Promise<string> {
  const { leader = 1n, isLearner = false, version = '3.6.16', errors = [], alarms } = more;
  const header = { clusterId: cluster, memberId: id, revision, raftTerm: 2n };
  const status = () => ({ header, version, leader, isLearner, dbSize: 9n, errors: [...errors] });
  const alarm = () => ({ header, alarms: [...(alarms ?? [])] });
  const etcd = await startFakeEtcd({ maintenance: { status, ...(alarms === undefined ? {} : { alarm }) } });
  started.push(etcd);
  return etcd.url;
}

async function picked(...members: readonly Member[]): Promise<{ id: bigint; warnings: readonly string[] }> {
  const endpoints = await Promise.all(members.map(member));
  using source = await openSource({ endpoints: ['http://127.0.0.1:1', ...endpoints] }, signal);
  return { id: source.status.memberId, warnings: source.warnings };
}

describe('the member that is saved from', () => {
  it('is the voter that has seen most', async () => {
    const learner = { id: 3n, revision: 30n, isLearner: true };
    expect(await picked({ id: 1n, revision: 10n }, { id: 2n, revision: 20n }, learner)).toEqual({
      id: 2n,
      warnings: [],
    });
  });

  it('knows a leader, though another that is cut off may have a larger revision', async () => {
    const cutOff = { id: 2n, revision: 20n, leader: 0n };
    expect(await picked({ id: 1n, revision: 10n }, cutOff)).toEqual({ id: 1n, warnings: [] });
  });

  it('is taken with a warning where none knows a leader', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, leader: 0n }, { id: 2n, revision: 20n, leader: 0n });
    expect([id, warnings]).toEqual([2n, [expect.stringContaining('no member that answered knew a leader')]]);
  });

  it('is none where the endpoints are of two clusters, and both are named', async () => {
    const one = await member({ id: 1n, revision: 10n, cluster: 0xaan });
    const other = await member({ id: 2n, revision: 2000n, cluster: 0xbbn });
    await expect(openSource({ endpoints: [one, other] }, signal)).rejects.toMatchObject({
      kind: 'rejected',
      message: `the endpoints are not of one cluster: ${one} is of cluster aa, ${other} is of cluster bb: name those of one cluster only`,
    });
  });
});

describe('a snapshot', () => {
  const corrupt = (id: bigint): string => `memberID:${id} alarm:CORRUPT `;
  const newest = { id: 2n, revision: 20n };

  it('is not of the member that etcd calls corrupt, though that one has seen most, and says so', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, errors: [corrupt(2n)] }, newest);
    expect([id, warnings]).toEqual([1n, [expect.stringMatching(/CORRUPT for member 2: .* another member/)]]);
  });

  it('is refused where only corrupt members answer', async () => {
    const both = [corrupt(1n), corrupt(2n)];
    await expect(picked({ id: 1n, revision: 10n, errors: both }, newest)).rejects.toMatchObject({
      ...{ trouble: 'corrupt', kind: 'rejected' },
      message: expect.stringMatching(/alarm CORRUPT for member 1, 2, and no other member answered.*alarm disarm/),
    });
  });

  it('is refused where etcd does not say which member is corrupt', async () => {
    const unnamed = picked({ id: 1n, revision: 10n, errors: ['alarm:CORRUPT '] }, newest);
    await expect(unnamed).rejects.toThrow(/CORRUPT for the whole cluster/);
  });

  it('is taken of a cluster that is out of space: its data is sound', async () => {
    const errors = ['memberID:2 alarm:NOSPACE ', 'etcdserver: no leader'];
    expect(await picked({ id: 1n, revision: 10n, errors }, { ...newest, errors })).toEqual({ id: 2n, warnings: [] });
  });

  it('of an etcd before 3.4, whose status says nothing of alarms, depends on the alarms it lists', async () => {
    const version = '3.3.12';
    const alarms = [
      { memberId: 2n, alarm: AlarmType.CORRUPT },
      { memberId: 1n, alarm: AlarmType.NOSPACE },
    ];
    const old = { id: 1n, revision: 10n, version };
    expect((await picked({ ...old, alarms }, { ...newest, version, alarms })).id).toBe(1n);
    expect((await picked({ ...old, alarms: [] })).warnings).toEqual([]);
    expect((await picked(old)).warnings).toEqual([expect.stringContaining('alarms of etcd could not be read')]);
  });
});
