import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import { type EtcdVersion, etcdVersions } from '../../tools/programs/catalog.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { minorOf } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Returns hash, revision and key count of a snapshot; fails if the hash of the file is wrong. */
async function contentsOf(file: string, version: EtcdVersion): Promise<unknown> {
  const json = await run(etcdProgram(version, 'etcdutl'), ['snapshot', 'status', file, '--write-out=json']);
  const { hash, revision, totalKey } = JSON.parse(json) as Record<string, unknown>;
  return { hash, revision, totalKey };
}

/** Calls that need only one member, on every supported version. */
describe.each(etcdVersions)('etcd %s', (version) => {
  const minor = minorOf(version);
  let cluster: EtcdCluster;
  let etcd: EtcdConnection;
  beforeAll(async () => {
    cluster = await startEtcd({ version });
    etcd = cluster.connect();
  });
  afterAll(() => cluster.stop());

  it('returns its status with the fields of its version', async () => {
    const status = await etcd.status();
    expect(status).toMatchObject({ version, leader: status.memberId, isLearner: false, errors: [] });
    expect(status.raftIndex).toBeGreaterThan(0n);
    expect(status.dbSize).toBeGreaterThan(0n);
    expect('raftAppliedIndex' in status && 'dbSizeInUse' in status).toBe(minor >= 4);
    expect('storageVersion' in status && 'dbSizeQuota' in status).toBe(minor >= 6);
  });

  it('lists its members, linearizable and serializable', async () => {
    const { peerURL, endpoint } = cluster.member(0);
    const { memberId: id } = await etcd.status();
    const expected = [{ id, name: 'm0', peerURLs: [peerURL], clientURLs: [endpoint.url], isLearner: false }];
    expect(await etcd.memberList()).toEqual(expected);
    expect(await etcd.memberList({ linearizable: false })).toEqual(expected);
  });

  it('puts, gets, lists, counts and deletes keys', async () => {
    expect(await etcd.get('keys/a')).toBeUndefined();
    const revision = await etcd.put('keys/a', '1');
    expect(await etcd.get('keys/a')).toMatchObject({
      key: 'keys/a',
      value: new Uint8Array([0x31]),
      modRevision: revision,
    });
    expect(await etcd.putIfAbsent('keys/a', '2')).toBe(false);
    expect(await etcd.putIfAbsent('keys/b', '2')).toBe(true);
    expect((await etcd.list({ key: 'keys/', prefix: true })).map(({ key }) => key)).toEqual(['keys/a', 'keys/b']);
    expect(await etcd.deleteRange({ key: 'keys/', prefix: true })).toBe(2n);
    expect(await etcd.count({ key: 'keys/', prefix: true })).toBe(0n);
  });

  it('sends watch events from a revision on', async () => {
    const from = await etcd.put('watched', '0');
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { kind, pair } of etcd.watch({ key: 'watched' }, { fromRevision: from })) {
        seen.push(`${kind} ${Buffer.from(pair.value).toString()}`);
        if (kind === 'delete') return;
      }
    })();
    await etcd.put('watched', '1');
    await etcd.deleteRange({ key: 'watched' });
    await watching;
    expect(seen).toEqual(['put 0', 'put 1', 'delete ']);
  });

  it('compacts and defragments, and rejects compacted revisions', async () => {
    const old = await etcd.put('history', '0');
    const revision = await etcd.put('history', '1');
    await etcd.compact(revision, { physical: true });
    await etcd.defragment();
    await expect(etcd.compact(revision)).rejects.toMatchObject({ kind: 'rejected', refusal: 'compacted' });
    const watch = etcd.watch({ key: 'history' }, { fromRevision: old });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      kind: 'rejected',
      refusal: 'compacted',
    });
  });

  it('lists no alarms and disarms none on a healthy member', async () => {
    expect(await etcd.alarms()).toEqual([]);
    const { memberId } = await etcd.status();
    expect(await etcd.disarm(memberId, 'no-space')).toEqual([]);
  });

  it('returns hashKV from 3.3 on', async () => {
    const revision = await etcd.put('hashed', '1');
    const hashing = etcd.hashKV();
    if (minor < 3) await expect(hashing).rejects.toMatchObject({ kind: 'rejected', refusal: 'not-supported' });
    else expect(await hashing).toMatchObject({ hash: expect.any(Number), revision });
  });

  it('validates a downgrade from 3.5 on', async () => {
    const validation = etcd.downgrade('validate', `3.${minor - 1}.0`);
    if (minor < 5) await expect(validation).rejects.toMatchObject({ kind: 'rejected', refusal: 'not-supported' });
    else expect(await validation).toMatch(`3.${minor}`);
  });

  it('sends our client the same snapshot as etcdctl', async () => {
    const value = Buffer.alloc(100_000, 'x');
    for (let i = 0; i < 20; i++) await etcd.put(`big/${i}`, value);
    // From 3.6 on etcd writes its storage version some seconds after start: wait, so it is in both snapshots.
    const isWritten = async (): Promise<true | undefined> =>
      (await etcd.status()).storageVersion === `3.${minor}.0` || undefined;
    if (minor >= 6) await until('the storage version is written', isWritten);
    const [theirs, ours] = ['theirs.db', 'ours.db'].map((name) => join(cluster.directory, name)) as [string, string];
    await cluster.etcdctl('snapshot', 'save', theirs);
    await writeFile(ours, etcd.snapshot());
    if (minor < 5) expect(sha256(ours)).toBe(sha256(theirs));
    // From 3.5 on every snapshot call writes once, so files differ; their contents are equal.
    else expect(await contentsOf(ours, version)).toEqual(await contentsOf(theirs, version));
  });

  it('rejects the removal of an unknown member ID', async () => {
    await expect(etcd.memberRemove(42n)).rejects.toMatchObject({ kind: 'not-found', refusal: 'member-not-found' });
  });
});
