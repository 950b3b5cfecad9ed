import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSource } from '../../src/agent/source.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdProcess } from '../support/etcd-process.ts';

const versions: readonly EtcdVersion[] = ['3.3.12', '3.5.35', '3.7.3'];
const signal = new AbortController().signal;
const value = Buffer.alloc(20_000, 'x');
const writes = 200;

/** Reads the revision of a snapshot with etcdctl or etcdutl. */
async function revisionIn(file: string, version: EtcdVersion): Promise<unknown> {
  const program = etcdProgram(version, version === '3.3.12' ? 'etcdctl' : 'etcdutl');
  const env = { ETCDCTL_API: '3' };
  const status = await run(program, ['snapshot', 'status', file, '--write-out=json'], { env });
  return (JSON.parse(status) as { readonly revision?: unknown }).revision;
}

describe.each(versions)('a snapshot of a lagging follower, etcd %s', (version) => {
  it('contains every write that was acknowledged while the follower was stopped', async () => {
    await using cluster = await startEtcd({ version, size: 3 });
    const [leader, , follower] = (await cluster.leaderFirst()) as [EtcdProcess, EtcdProcess, EtcdProcess];
    await follower.freeze();
    const etcd = cluster.connect(leader);
    let last = 0n;
    for (let i = 0; i < writes; i++) last = await etcd.put(`key/${i}`, value);
    follower.thaw();
    using source = await openSource({ endpoints: [follower.endpoint.url] }, signal);
    expect([source.status.revision, source.warnings]).toEqual([last, []]);
    const file = join(cluster.directory, 'saved.db');
    await writeFile(file, source.etcd.snapshot({ signal }));
    expect(await revisionIn(file, version)).toBe(Number(last));
  });
});
