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
  /** Errors in its status. */
  readonly errors?: readonly string[];
  /** Alarms that it lists. */
  readonly alarms?: readonly { readonly memberId: bigint; readonly alarm: AlarmType }[];
  /** Its revision once it has caught up with the leader. */
  readonly caughtUp?: bigint;
  /** Error of a linearizable read; without a leader, the read times out. */
  readonly readError?: ConnectError;
  /** Duration of a linearizable read. */
  readonly readMillis?: number;
}

const timedOut = new ConnectError('etcdserver: request timed out', Code.Unavailable);

const usual = { cluster: 0xaan, leader: 1n, isLearner: false, version: '3.6.16', errors: [] };

/** Starts a fake member and returns its URL. */
async function member(given: Member): Promise<string> {
  const { id, revision, cluster, leader, isLearner, version, errors, alarms } = { ...usual, ...given };
  const { caughtUp = revision, readError = leader === 0n ? timedOut : undefined } = given;
  const header = { clusterId: cluster, memberId: id, revision, raftTerm: 2n };
  const status = () => ({ header, version, leader, isLearner, dbSize: 9n, errors: [...errors] });
  const alarm = () => ({ header, alarms: [...(alarms ?? [])] });
  const range = async () => {
    await sleep(given.readMillis ?? 0, undefined, { ref: false });
    if (readError !== undefined) throw readError;
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

describe('the source member of a snapshot', () => {
  it('is the voter with the highest revision', async () => {
    const learner = { id: 3n, revision: 30n, isLearner: true };
    expect(await picked({ id: 1n, revision: 10n }, { id: 2n, revision: 20n }, learner)).toEqual({
      id: 2n,
      revision: 20n,
      warnings: [],
    });
  });

  it('catches up with the leader before its revision is read', async () => {
    const stalled = { id: 1n, revision: 10n, caughtUp: 30n };
    expect(await picked(stalled)).toEqual({ id: 1n, revision: 30n, warnings: [] });
  });

  it('may be a member that denies the user the read of keys: it denies after the read index', async () => {
    const readError = new ConnectError('etcdserver: permission denied', Code.PermissionDenied);
    expect(await picked({ id: 1n, revision: 10n, readError })).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is a member with a quorum, even if a member without one has a higher revision', async () => {
    const stale = { id: 2n, revision: 20n, readError: timedOut };
    expect(await picked({ id: 1n, revision: 10n }, stale)).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is chosen with a warning if no member has a quorum', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, readError: timedOut });
    const confirm = /could confirm its data with a quorum: .* may be missing .*request timed out/;
    expect([id, warnings]).toEqual([1n, [expect.stringMatching(confirm)]]);
  });

  it('is a confirmed voter, even if a stalled member does not confirm its data within a second', async () => {
    const startedAt = performance.now();
    const stalled = { id: 2n, revision: 20n, readMillis: 60_000 };
    expect(await picked({ id: 1n, revision: 10n }, stalled)).toEqual({ id: 1n, revision: 10n, warnings: [] });
    expect(performance.now() - startedAt).toBeLessThan(9_000); // the time-out of the read is 10 s
  });

  it('may be a member that confirms its data shortly after the first', async () => {
    const later = { id: 2n, revision: 20n, readMillis: 20 };
    expect(await picked({ id: 1n, revision: 10n }, later)).toMatchObject({ id: 2n, revision: 20n });
  });

  it('is a slow voter, even if a learner confirms its data first', async () => {
    const learner = { id: 3n, revision: 30n, isLearner: true };
    expect(await picked(learner, { id: 1n, revision: 10n, readMillis: 2_000 })).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is a member with a leader, even if a member that is cut off has a higher revision', async () => {
    const cutOff = { id: 2n, revision: 20n, leader: 0n };
    expect(await picked({ id: 1n, revision: 10n }, cutOff)).toMatchObject({ id: 1n, warnings: [] });
  });

  it('is chosen with a warning if no member has a leader', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, leader: 0n }, { id: 2n, revision: 20n, leader: 0n });
    expect([id, warnings]).toEqual([2n, [expect.stringContaining('no member that answered has a leader')]]);
  });

  it('is refused if the endpoints belong to two clusters, and the error names both', async () => {
    const one = await member({ id: 1n, revision: 10n, cluster: 0xaan });
    const other = await member({ id: 2n, revision: 2000n, cluster: 0xbbn });
    await expect(openSource({ endpoints: [one, other] }, signal)).rejects.toMatchObject({
      kind: 'rejected',
      message: `the endpoints belong to different clusters: ${one} belongs to cluster aa, ${other} belongs to cluster bb: name endpoints of one cluster only`,
    });
  });
});

describe('a snapshot of a cluster with alarms', () => {
  const corrupt = (id: bigint): string => `memberID:${id} alarm:CORRUPT `;
  const newest = { id: 2n, revision: 20n };

  it('is not taken from the corrupt member, even if that has the highest revision, and has a warning', async () => {
    const { id, warnings } = await picked({ id: 1n, revision: 10n, errors: [corrupt(2n)] }, newest);
    expect([id, warnings]).toEqual([1n, [expect.stringMatching(/CORRUPT for member 2: .* another member/)]]);
  });

  it('is refused if only corrupt members answer', async () => {
    const both = [corrupt(1n), corrupt(2n)];
    await expect(picked({ id: 1n, revision: 10n, errors: both }, newest)).rejects.toMatchObject({
      trouble: 'corrupt',
      kind: 'rejected',
      message: expect.stringMatching(/alarm CORRUPT for member 1, 2, and no other member answered.*alarm disarm/),
    });
  });

  it('is refused if etcd does not name the corrupt member', async () => {
    const unnamed = picked({ id: 1n, revision: 10n, errors: ['alarm:CORRUPT '] }, newest);
    await expect(unnamed).rejects.toThrow(/CORRUPT for the whole cluster/);
  });

  it('is taken if the alarm is NOSPACE: the data is sound', async () => {
    const errors = ['memberID:2 alarm:NOSPACE ', 'etcdserver: no leader'];
    expect(await picked({ id: 1n, revision: 10n, errors }, { ...newest, errors })).toMatchObject({
      id: 2n,
      warnings: [],
    });
  });

  it('of an etcd before 3.4, which has no alarms in its status, uses the alarm list', async () => {
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
