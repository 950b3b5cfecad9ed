import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdProcess } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const short = { timeoutMillis: 1_000 };
/** The failure of a call that hits its own deadline, not the default of five seconds. */
const deadlineFailure = { kind: 'unreachable', message: expect.stringContaining('within 1000 ms') };

/** Returns the error of a call, or undefined if the call succeeds. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe.concurrent.each(etcdVersions)('a cluster of etcd %s', (version) => {
  it('serves a linearizable read with quorum, and not without', async () => {
    await using cluster = await startEtcd({ version, size: 3 });
    const [first, second, third] = cluster.members as [EtcdProcess, EtcdProcess, EtcdProcess];
    const etcd = cluster.connect(first);
    await third.freeze();
    await cluster.retry('a read with quorum succeeds', () => etcd.linearizableRead(short));
    await second.freeze();
    const failure = await failureOf(etcd.linearizableRead(short));
    // etcd may fail the call before its deadline of 1 s; the default of 5 s must not be the reason.
    const message = expect.not.stringContaining('within 5000 ms');
    expect(failure).toMatchObject({ kind: 'unreachable', mayBeDone: true, message });
    expect(await etcd.memberList({ linearizable: false })).toHaveLength(3);
    expect(await failureOf(etcd.memberList(short))).toMatchObject({ kind: 'unreachable' });
    second.thaw();
    third.thaw();
    await until('quorum is back', async () => (await etcd.memberList(short)).length === 3 || undefined);
  });

  it('with a frozen member: calls end at their deadline and succeed after the member is thawed', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const before = await etcd.status();
    await cluster.member(0).freeze();
    expect(await failureOf(etcd.status(short))).toMatchObject(deadlineFailure);
    expect(await failureOf(etcd.status(short))).toMatchObject({ kind: 'unreachable' });
    cluster.member(0).thaw();
    expect((await etcd.status()).memberId).toBe(before.memberId);
  });

  it('with a killed and restarted member: the same connection works again', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    await etcd.put('kept', 'yes');
    const watching = failureOf(etcd.watch({ key: 'kept' })[Symbol.asyncIterator]().next());
    await cluster.member(0).kill();
    expect(await failureOf(etcd.status())).toMatchObject({ kind: 'unreachable' });
    // The call fails because the connection is refused, not at the deadline of 5 s.
    expect(await failureOf(etcd.status())).toMatchObject({
      mayBeDone: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await watching).toMatchObject({ kind: 'unreachable' });
    cluster.member(0).start();
    await cluster.answering(cluster.member(0));
    expect(Buffer.from((await etcd.get('kept'))?.value ?? []).toString()).toBe('yes');
  });
});
