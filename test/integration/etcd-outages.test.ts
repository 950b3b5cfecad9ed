import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdProcess } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const short = { timeoutMillis: 1_000 };
/** The deadline of the call itself has ended it, not the usual one of five seconds. */
const ended = { kind: 'unreachable', message: expect.stringContaining('within 1000 ms') };

/** How something fails that must fail. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe.concurrent.each(etcdVersions)('a cluster of etcd %s', (version) => {
  it('serves a linearizable read with a majority, and not without', async () => {
    await using cluster = await startEtcd({ version, size: 3 });
    const [first, second, third] = cluster.members as [EtcdProcess, EtcdProcess, EtcdProcess];
    const etcd = cluster.connect(first);
    await third.freeze();
    await cluster.patiently('two of three agree', () => etcd.linearizableRead(short));
    await second.freeze();
    const failure = await failureOf(etcd.linearizableRead(short));
    // An answer may come before the deadline of one second, but the usual one of five must not be what ended the call.
    const message = expect.not.stringContaining('within 5000 ms');
    expect(failure).toMatchObject({ kind: 'unreachable', mayBeDone: true, message });
    expect(await etcd.memberList({ linearizable: false })).toHaveLength(3);
    expect(await failureOf(etcd.memberList(short))).toMatchObject({ kind: 'unreachable' });
    second.thaw();
    third.thaw();
    await until('they agree again', async () => (await etcd.memberList(short)).length === 3 || undefined);
  });

  it('has a member that is frozen: calls to it end in time, and it answers again when it is thawed', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const before = await etcd.status();
    await cluster.member(0).freeze();
    expect(await failureOf(etcd.status(short))).toMatchObject(ended);
    expect(await failureOf(etcd.status(short))).toMatchObject({ kind: 'unreachable' });
    cluster.member(0).thaw();
    expect((await etcd.status()).memberId).toBe(before.memberId);
  });

  it('has a member that is killed and comes back: the same connection finds it', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    await etcd.put('kept', 'yes');
    const watching = failureOf(etcd.watch({ key: 'kept' })[Symbol.asyncIterator]().next());
    await cluster.member(0).kill();
    expect(await failureOf(etcd.status())).toMatchObject({ kind: 'unreachable' });
    // Not for want of an answer: that would be "within 5000 ms".
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
