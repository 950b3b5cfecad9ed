import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/objectstore/store.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { agent, startAgent } from '../support/agent.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { freePorts } from '../support/free-ports.ts';
import { agentFlags, openOn, type StoreServer, startS3, startVolume } from '../support/store-servers.ts';
import { until } from '../support/until.ts';

const versions: readonly EtcdVersion[] = ['3.3.12', '3.5.35', '3.7.3'];

async function* bytes(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
const keysIn = async (store: ObjectStore, prefix = ''): Promise<readonly string[]> =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);

/** Runs `snapshot status`, which fails if the hash at the end of the file is wrong. */
async function statusOf(file: string, version: EtcdVersion): Promise<Record<string, unknown>> {
  const tool = version === '3.3.12' ? 'etcdctl' : 'etcdutl';
  const env = { ETCDCTL_API: '3' };
  const json = await run(etcdProgram(version, tool), ['snapshot', 'status', file, '--write-out=json'], { env });
  return JSON.parse(json) as Record<string, unknown>;
}

async function restored(file: string, version: EtcdVersion): Promise<void> {
  const tool = version === '3.3.12' ? 'etcdctl' : 'etcdutl';
  const env = { ETCDCTL_API: '3' };
  await run(etcdProgram(version, tool), ['snapshot', 'restore', file, '--data-dir', `${file}.data`], { env });
}

describe.each(versions)('agents for etcd %s', (version) => {
  let cluster: EtcdCluster;
  let server: StoreServer;
  beforeAll(async () => {
    cluster = await startEtcd({ version });
    server = await startS3();
    const etcd = cluster.connect();
    for (let i = 0; i < 30; i++) await etcd.put(`key/${i}`, Buffer.alloc(500_000, `${i} `));
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await cluster.stop();
  });

  it('save, prove and fetch a snapshot that etcdctl restores, although one endpoint is dead', async () => {
    const endpoints = ['--endpoints', `http://127.0.0.1:1,${cluster.member(0).endpoint.url}`];
    await expectRoundTrip({ cluster, server, version }, ['--compression', 'none', ...endpoints]);
  });
});

interface RoundTrip {
  readonly cluster: EtcdCluster;
  readonly server: StoreServer;
  readonly version: EtcdVersion;
}

async function expectRoundTrip({ cluster, server, version }: RoundTrip, saving: readonly string[]): Promise<void> {
  const flags = agentFlags(server, 'dir/round.db');
  const { revision } = await cluster.connect().status();
  const saved = await agent(server.directory, 'save', [...flags, ...saving]);
  expect(saved).toMatchObject({ ok: true, version, revision: String(revision), compression: saving[1] });
  const { size, plainSize, sha256 } = saved ?? {};
  const proven = await agent(server.directory, 'prove', [...flags, '--target-version', version]);
  expect(proven).toMatchObject({ ok: true, size, plainSize, sha256, version, warnings: [] });
  const file = join(server.directory, 'round.db');
  expect(await agent(server.directory, 'fetch', [...flags, '--to', file])).toMatchObject({ ok: true, sha256 });
  expect(await statusOf(file, version)).toMatchObject({ revision: Number(revision) });
  await restored(file, version);
}

describe('an agent', () => {
  let cluster: EtcdCluster;
  let server: StoreServer;
  let volume: StoreServer;
  let store: ObjectStore;
  let good: Buffer;
  beforeAll(async () => {
    cluster = await startEtcd({ version: '3.6.16' });
    server = await startS3();
    volume = await startVolume();
    store = await openOn(server);
    const etcd = cluster.connect();
    for (let i = 0; i < 60; i++) await etcd.put(`key/${i}`, crypto.getRandomValues(new Uint8Array(65_536)));
    for (let i = 0; i < 60; i++) await etcd.put(`large/${i}`, Buffer.alloc(1_000_000, `${i} `));
    const file = join(cluster.directory, 'good.db');
    await cluster.etcdctl('snapshot', 'save', file);
    good = readFileSync(file);
  });
  afterAll(async () => {
    store[Symbol.dispose]();
    for (const each of [server, volume]) await each[Symbol.asyncDispose]();
    await cluster.stop();
  });
  const endpoints = (): readonly string[] => ['--endpoints', cluster.member(0).endpoint.url];

  for (const compression of ['gzip', 'zstd'])
    it(`compresses with ${compression} and decompresses again, on a volume`, async () => {
      const round = { cluster, server: volume, version: '3.6.16' } as const;
      await expectRoundTrip(round, ['--compression', compression, ...endpoints()]);
      using volumeStore = await openOn(volume);
      expect((await volumeStore.head('dir/round.db')).size).toBeLessThan(good.length / 2);
      await run('rm', ['-r', join(volume.directory, 'round.db.data'), join(volume.volume ?? '', 'dir')]);
    });

  it('proves a snapshot saved by etcdctl, and warns that its etcd version is unknown', async () => {
    await store.put('foreign.db', bytes(good));
    const flags = agentFlags(server, 'foreign.db');
    const proven = await agent(server.directory, 'prove', flags);
    expect(proven).toMatchObject({
      ok: true,
      warnings: ['the etcd version of this snapshot is unknown: it has neither a manifest nor a storage version'],
    });
  });

  const damaged: Record<string, [(whole: Buffer) => Uint8Array, RegExp]> = {
    empty: [() => Buffer.alloc(0), /it is empty/],
    short: [() => Buffer.from('hello'), /only 5 bytes/],
    'cut short': [(whole) => whole.subarray(0, whole.length / 2 + 7), /does not match/],
    'a copy of a database file': [(whole) => whole.subarray(0, whole.length - 32), /use etcdctl snapshot save/],
    'changed in one bit': [
      (whole) => {
        const changed = Buffer.from(whole);
        changed[12_345] = (changed[12_345] ?? 0) ^ 1;
        return changed;
      },
      /does not match/,
    ],
    'an HTML error page': [
      () => Buffer.from('<!DOCTYPE html><title>503 Service Unavailable</title>'),
      /does not match/,
    ],
    'a broken archive': [(whole) => gzipSync(whole, { level: 1 }).subarray(0, 100_000), /cannot be decompressed/],
  };
  for (const [what, [damage, message]] of Object.entries(damaged))
    it(`rejects an object that is ${what} and leaves no file`, async () => {
      await store.put('damaged.db', bytes(damage(good)));
      const file = join(server.directory, 'damaged.db');
      const result = await agent(server.directory, 'fetch', [...agentFlags(server, 'damaged.db'), '--to', file]);
      expect(result).toMatchObject({ ok: false, trouble: 'damaged', mayPass: false });
      expect(result?.['message']).toMatch(message);
      expect(() => readFileSync(file)).toThrow('ENOENT');
    });

  it('stops decompressing at --max-bytes', async () => {
    await store.put('bomb.db', bytes(gzipSync(Buffer.alloc(50_000_000))));
    const result = await agent(server.directory, 'prove', [...agentFlags(server, 'bomb.db'), '--max-bytes', '1000000']);
    expect(result).toMatchObject({ ok: false, trouble: 'too-large' });
  });

  it('rejects a snapshot of an etcd newer than --target-version', async () => {
    const flags = agentFlags(server, 'newer.db');
    expect(await agent(server.directory, 'save', [...flags, ...endpoints()])).toMatchObject({ ok: true });
    const result = await agent(server.directory, 'prove', [...flags, '--target-version', '3.5.35']);
    expect(result).toMatchObject({ ok: false, trouble: 'too-new', message: expect.stringContaining('3.6.16') });
  });

  it('ignores a manifest that belongs to another snapshot, and warns of it', async () => {
    await store.put('newer.db', bytes(good));
    const older = ['--target-version', '3.5.35'];
    const result = await agent(server.directory, 'prove', [...agentFlags(server, 'newer.db'), ...older]);
    expect(result).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('belongs to another snapshot'), expect.any(String)],
    });
  });

  it('reports a missing object by name, and an etcd that does not answer as transient', async () => {
    const missing = await agent(server.directory, 'prove', agentFlags(server, 'no-such.db'));
    expect(missing).toMatchObject({ ok: false, trouble: 'no-object', message: expect.stringContaining('no-such.db') });
    const silent = await agent(server.directory, 'save', [
      ...agentFlags(server, 'x.db'),
      ...['--endpoints', 'http://127.0.0.1:1'],
    ]);
    expect(silent).toMatchObject({ ok: false, trouble: 'etcd', mayPass: true });
    expect(await keysIn(store, 'x.db')).toEqual([]);
  });

  for (const [signal, left] of [
    ['SIGKILL', undefined],
    ['SIGTERM', { ok: false, trouble: 'stopped' }],
  ] as const)
    it(`killed by ${signal} during an upload leaves no object under the final key`, async () => {
      await using proxy = await startFaultProxy(server.port);
      // The proxy never acknowledges parts, so the upload is still running when the signal arrives.
      proxy.fault = { is: 'silent' };
      proxy.appliesTo = (method, url) => method === 'PUT' && url.includes('partNumber');
      const endpoint = server.address.endpoint?.replace(`:${server.port}`, `:${proxy.port}`) ?? '';
      const flags = agentFlags({ ...server, address: { ...server.address, endpoint } }, 'half.db');
      const { child, ended } = startAgent(server.directory, 'save', [...flags, ...endpoints()]);
      await until('four parts are being uploaded', async () => (proxy.requests >= 4 ? true : undefined));
      child.kill(signal);
      const { code, result } = await ended;
      expect(code).not.toBe(0);
      if (left === undefined) expect(result).toBeUndefined();
      else expect(result).toMatchObject(left);
      expect(await keysIn(store, 'half.db')).toEqual([]);
    });

  it('stops at --timeout', async () => {
    await using proxy = await startFaultProxy(server.port);
    proxy.fault = { is: 'silent' };
    const endpoint = server.address.endpoint?.replace(`:${server.port}`, `:${proxy.port}`) ?? '';
    const flags = agentFlags({ ...server, address: { ...server.address, endpoint } }, 'late.db');
    const result = await agent(server.directory, 'save', [...flags, ...endpoints(), '--timeout', '2']);
    expect(result).toMatchObject({ ok: false, trouble: 'time', message: expect.stringContaining('2 s') });
  });

  it('serves its progress on --progress-port', async () => {
    await using proxy = await startFaultProxy(server.port);
    proxy.fault = { is: 'silent' };
    const [port = 0] = await freePorts(1);
    const endpoint = server.address.endpoint?.replace(`:${server.port}`, `:${proxy.port}`) ?? '';
    const flags = agentFlags({ ...server, address: { ...server.address, endpoint } }, 'slow.db');
    const { child, ended } = startAgent(server.directory, 'save', [
      ...flags,
      ...endpoints(),
      '--progress-port',
      String(port),
    ]);
    const shown = await until('progress is shown', async () => {
      const report = (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { phase: string; bytes: number };
      return report.bytes > 0 ? report : undefined;
    });
    expect(shown).toMatchObject({
      phase: 'saving',
      totalBytes: expect.any(Number),
      bytesPerSecond: expect.any(Number),
    });
    child.kill('SIGKILL');
    await ended;
  });

  it('prunes the oldest backups with its own key format and no other objects', async () => {
    using volumeStore = await openOn(volume);
    const flags = agentFlags(volume, 'etcd.backup');
    const dated = ['etcd.backup_v99_2026-01-02-00:00:00', 'etcd.backup_v100_2026-01-03-00:00:00'];
    for (const key of [...dated, 'etcd.backup_v7_2026-01-01-00:00:00', 'etcd.backup-of-others'])
      await volumeStore.put(key, bytes(good));
    const saved = await agent(volume.directory, 'save', [...flags, ...endpoints(), '--dated']);
    expect(saved?.['key']).toMatch(/^etcd\.backup_v\d+_\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d$/);
    const pruned = await agent(volume.directory, 'prune', [...flags, '--keep', '2']);
    expect(pruned).toMatchObject({ ok: true, kept: 2, deleted: [dated[0], 'etcd.backup_v7_2026-01-01-00:00:00'] });
    const key = String(saved?.['key']);
    expect(await keysIn(volumeStore)).toEqual(['etcd.backup-of-others', dated[1], key, `${key}.manifest.json`]);
  });

  it('exits with 1 if a flag is invalid', async () => {
    const { ended } = startAgent(server.directory, 'prove', ['--url', 'ftp://b/k']);
    expect((await ended).code).toBe(1);
  });
});
