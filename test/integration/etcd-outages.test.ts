import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdProcess } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const short = { timeoutMillis: 1_000 };
/** Calls that say nothing of their own have five seconds. */
const beforeTheUsual = 4_000;

/** How long something takes that must fail, and how it fails. */
async function failing(work: Promise<unknown>): Promise<{ readonly millis: number; readonly failure: unknown }> {
  const started = performance.now();
  const failure = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { millis: performance.now() - started, failure };
}

describe.each(etcdVersions)('a cluster of etcd %s', (version) => {
  it('serves a linearizable read with a majority, and not without', async () => {
    await using cluster = await startEtcd({ version, size: 3 });
    const [first, second, third] = cluster.members as [EtcdProcess, EtcdProcess, EtcdProcess];
    const etcd = cluster.connect(first);
    await third.freeze();
    await cluster.patiently('two of three agree', () => etcd.linearizableRead(short));
    await second.freeze();
    const { millis, failure } = await failing(etcd.linearizableRead(short));
    expect(failure).toMatchObject({ kind: 'unreachable', mayBeDone: true });
    expect(millis).toBeLessThan(beforeTheUsual);
    expect(await etcd.memberList({ linearizable: false })).toHaveLength(3);
    expect(await failing(etcd.memberList(short))).toMatchObject({ failure: { kind: 'unreachable' } });
    second.thaw();
    third.thaw();
    await until('they agree again', async () => (await etcd.memberList(short)).length === 3 || undefined);
  });

  it('has a member that is frozen: calls to it end in time, and it answers again when it is thawed', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const before = await etcd.status();
    await cluster.member(0).freeze();
    const { millis, failure } = await failing(etcd.status(short));
    expect(failure).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('within 1000 ms') });
    expect(millis).toBeLessThan(beforeTheUsual);
    expect(await failing(etcd.status(short))).toMatchObject({ failure: { kind: 'unreachable' } });
    cluster.member(0).thaw();
    expect((await etcd.status()).memberId).toBe(before.memberId);
  });

  it('has a member that is killed and comes back: the same connection finds it', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    await etcd.put('kept', 'yes');
    const watching = failing(etcd.watch({ key: 'kept' })[Symbol.asyncIterator]().next());
    await cluster.member(0).kill();
    expect(await failing(etcd.status())).toMatchObject({ failure: { kind: 'unreachable' } });
    const { millis, failure } = await failing(etcd.status());
    expect(failure).toMatchObject({ mayBeDone: false, message: expect.stringContaining('ECONNREFUSED') });
    expect(millis).toBeLessThan(beforeTheUsual);
    expect(await watching).toMatchObject({ failure: { kind: 'unreachable' } });
    cluster.member(0).start();
    await cluster.answering(cluster.member(0));
    expect(Buffer.from((await etcd.get('kept'))?.value ?? []).toString()).toBe('yes');
  });
});
