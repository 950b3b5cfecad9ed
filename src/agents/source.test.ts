import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
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
  /** Its revision once it has caught up with the leader. */
  readonly caughtUp?: bigint;
  /** What it says to a linearizable read; a member without a leader has no majority. */
  readonly refuses?: ConnectError;
  /** How long a linearizable read takes. */
  readonly readMillis?: number;
}

const timedOut = new ConnectError('etcdserver: request timed out', Code.Unavailable);

const usual = { cluster: 0xaan, leader: 1n, isLearner: false, version: '3.6.16', errors: [] };

/** A member that says so of itself. */
async function member(given: Member): Promise<string> {
  const { id, revision, cluster, leader, isLearner, version, errors, alarms } = { ...usual, ...given };
  const { caughtUp = revision, refuses = leader === 0n ? timedOut : undefined } = given;
  const header = { clusterId: cluster, memberId: id, revision, raftTerm: 2n };
  const status = () => ({ header, version, leader, isLearner, dbSize: 9n, errors: [...errors] });
  const alarm = () => ({ header, alarms: [...(alarms ?? [])] });
  const range = async () => {
    await sleep(given.readMillis ?? 0, undefined, { ref: false });
    if (refuses !== undefined) throw refuses;
    header.revision = caughtUp;
    return { header };
  };
  const maintenance = { status, ...(alarms === undefined ? {} : { alarm }) };
  const etcd = await startFakeEtcd({ maintenance, kv: { range } });
  started.push(etcd);
  return etcd.url;
}

interface Picked {
  readonly id: bigint;
  readonly revision: bigint;
  readonly warnings: readonly string[];
}

async function picked(...members: readonly Member[]): Promise<Picked> {
  const endpoints = await Promise.all(members.map(member));
  using source = await openSource({ endpoints: ['http://127.0.0.1:1', ...endpoints] }, signal);
  const { memberId: id, revision } = source.status;
  return { id, revision, warnings: source.warnings };
}

describe('the member that is saved from', () => {
  it('is the voter that has seen most', async () => {
    const learner = { id: 3n, revision: 30n, isLearner: true };
    expect(await picked({ id: 1n, revision: 10n }, { id: 2n, revision: 20n }, learner)).toEqual({
      ...{ id: 2n, revision: 20n },
      warnings: [],
    });
  });

  it('has caught up with the leader before its revision is read and the snapshot is taken', async () => {
    const stalled = { id: 1n, revision: 10n, caughtUp: 30n };
    expect(await picked(stalled)).toEqual({ id: 1n, revision: 30n, warnings: [] });
  });

  it('may be one whose keys the user may not read: the refusal comes after the read index', async () => {
    const refuses = new ConnectError('etcdserver: permission denied', Code.PermissionDenied);
    expect(await picked({ id: 1n, revision: 10n, refuses })).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is one that reaches a majority, though another that does not has a larger revision', async () => {
    const stale = { id: 2n, revision: 20n, refuses: timedOut };
    expect(await picked({ id: 1n, revision: 10n }, stale)).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is taken with a warning where none reaches a majority', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, refuses: timedOut });
    const confirm = /could confirm its data with a majority: .* may be missing .*request timed out/;
    expect([id, warnings]).toEqual([1n, [expect.stringMatching(confirm)]]);
  });

  it('is a confirmed voter, though a stalled member does not confirm its data within a second', async () => {
    const began = performance.now();
    const stalled = { id: 2n, revision: 20n, readMillis: 8_000 };
    expect(await picked({ id: 1n, revision: 10n }, stalled)).toEqual({ id: 1n, revision: 10n, warnings: [] });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('may be one that confirms its data a moment after the first', async () => {
    const later = { id: 2n, revision: 20n, readMillis: 200 };
    expect(await picked({ id: 1n, revision: 10n }, later)).toMatchObject({ id: 2n, revision: 20n });
  });

  it('is a voter that is waited for, though a learner has confirmed its data', async () => {
    const learner = { id: 3n, revision: 30n, isLearner: true };
    expect(await picked(learner, { id: 1n, revision: 10n, readMillis: 2_000 })).toMatchObject({ id: 1n, warnings: [] });
  });

  it('knows a leader, though another that is cut off may have a larger revision', async () => {
    const cutOff = { id: 2n, revision: 20n, leader: 0n };
    expect(await picked({ id: 1n, revision: 10n }, cutOff)).toMatchObject({ id: 1n, warnings: [] });
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
    expect(await picked({ id: 1n, revision: 10n, errors }, { ...newest, errors })).toMatchObject({
      id: 2n,
      warnings: [],
    });
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
