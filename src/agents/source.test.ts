import { afterEach, describe, expect, it } from 'vitest';
import { type FakeEtcd, startFakeEtcd } from '../../test/support/etcd-fake.ts';
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
}

/** A member that says so of itself. */
async function member({ id, revision, cluster = 0xaan, leader = 1n, isLearner = false }: Member): Promise<string> {
  const header = { clusterId: cluster, memberId: id, revision, raftTerm: 2n };
  const status = () => ({ header, version: '3.6.16', leader, isLearner, dbSize: 9n });
  const etcd = await startFakeEtcd({ maintenance: { status } });
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
