import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';

/** From 3.2 on etcd closes connections that ping more often than every 5 s, with "too_many_pings". */
describe('an idle watch', () => {
  it.concurrent.each(etcdVersions)('stays open despite keepalive pings, etcd %s', async (version) => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const watch = etcd.watch({ key: 'silent' })[Symbol.asyncIterator]();
    const next = watch.next();
    await sleep(23_000); // three pings
    await etcd.put('silent', 'no more');
    expect((await next).value).toMatchObject({ kind: 'put', pair: { key: 'silent' } });
    await watch.return?.();
  });
});
