import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rereadsCertificates } from '../../src/core/model/version.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { shownCertificate } from '../../src/etcd/shown-certificate.ts';
import { makeAuthority } from '../../src/lab/pki.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { type EtcdProcess, minorOf } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const tlsFailure = { kind: 'unreachable', message: expect.stringContaining('TLS failed') };

describe.concurrent.each(etcdVersions)('certificates of etcd %s', (version) => {
  it('let in whoever shows one, at an address, under the name that the server bears', async () => {
    await using cluster = await startEtcd({ version, tls: true, size: 2 });
    const { url, tls } = cluster.member(0).endpoint;
    if (tls === undefined) throw new Error('the cluster has certificates');
    const statusOf = (endpoint: Endpoint): Promise<unknown> => cluster.connect(endpoint).status();
    const port = Number(new URL(url).port);
    expect(await statusOf({ url, tls })).toMatchObject({ version });
    const { serverName: name = '', ...unnamed } = tls;
    const dial = { host: '127.0.0.1', port };
    expect(await statusOf({ url: `https://${name}:1`, tls: unnamed, dial })).toMatchObject({ version });

    const wrong: Readonly<Record<string, Endpoint>> = {
      'another name is expected': { url, tls: { ...tls, serverName: 'm9.etcd.test' } },
      'the address is expected': { url, tls: unnamed },
      'another authority is believed': { url, tls: { ...tls, ca: (await makeAuthority('stranger')).certificate } },
      'none is shown': { url, tls: { ca: tls.ca, serverName: name } },
      'none is believed': { url },
    };
    for (const [why, endpoint] of Object.entries(wrong))
      await expect(statusOf(endpoint), why).rejects.toMatchObject(tlsFailure);
    await expect(statusOf({ url: url.replace('https', 'http') })).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe.concurrent.each(etcdVersions)('a renewed certificate of etcd %s', (version) => {
  it(`is shown ${rereadsCertificates(version) ? 'without' : 'only after'} another start`, async () => {
    await using cluster = await startEtcd({ version, tls: true });
    const { name, endpoint } = cluster.member(0);
    const { tls, url } = endpoint;
    if (tls === undefined || cluster.authority === undefined) throw new Error('the cluster has certificates');
    const dial = { host: '127.0.0.1', port: Number(new URL(url).port) };
    const shown = (): Promise<string> => shownCertificate({ dial, tls }, AbortSignal.timeout(10_000));
    const before = await shown();
    const renewed = await cluster.authority.issue({ commonName: name, dns: [`${name}.etcd.test`] });
    writeFileSync(join(cluster.directory, `${name}-server.crt`), renewed.certificate);
    writeFileSync(join(cluster.directory, `${name}-server.key`), renewed.key);
    const after = new X509Certificate(renewed.certificate).fingerprint256;
    expect(await shown()).toBe(rereadsCertificates(version) ? after : before);
    await cluster.member(0).stop();
    cluster.member(0).start();
    expect(await until('it shows one', shown, { seconds: 60 })).toBe(after);
  });
});

/** Users as an administrator makes them: root, who may do everything, and a guest, who may do nothing. */
async function enableUsers(cluster: EtcdCluster): Promise<void> {
  for (const user of ['root:secret', 'guest:guest']) await cluster.etcdctl('user', 'add', user);
  await cluster.etcdctl('role', 'add', 'root').catch(() => ''); // later versions have it from the start
  await cluster.etcdctl('user', 'grant-role', 'root', 'root');
  await cluster.etcdctl('auth', 'enable');
}

const credentials = { user: 'root', password: 'secret' };

describe.concurrent.each(etcdVersions)('users of etcd %s', (version) => {
  it('are asked who they are, once there are any', async () => {
    await using cluster = await startEtcd({ version });
    const { url } = cluster.member(0).endpoint;
    const stranger = cluster.connect();
    const root = cluster.connect({ url, credentials });
    const guest = cluster.connect({ url, credentials: { user: 'guest', password: 'guest' } });
    if (minorOf(version) > 1) {
      await expect(stranger.authenticate('root', 'secret')).rejects.toMatchObject({ refusal: 'auth-not-enabled' });
      await root.put('before', 'there were users');
    }

    await enableUsers(cluster);
    await root.put('after', 'there were users');
    await expect(stranger.put('a', 'b')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'auth-needed' });
    await expect(guest.put('a', 'b')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'permission-denied' });
    await guest.linearizableRead();
    await stranger.authenticate('root', 'secret');
    const liar = cluster.connect({ url, credentials: { user: 'root', password: 'wrong' } });
    await expect(liar.status()).rejects.toMatchObject({ kind: 'forbidden', refusal: 'wrong-password' });
  });

  it('get another token when theirs is not known any more, for streams as well', async () => {
    await using cluster = await startEtcd({ version });
    await enableUsers(cluster);
    const { url } = cluster.member(0).endpoint;
    const root = cluster.connect({ url, credentials });
    const revision = await root.put('a', 'b');
    /** A restart forgets all tokens. Status is open to everybody in most versions, so that it takes none. */
    const restart = async (): Promise<void> => {
      await cluster.member(0).stop();
      cluster.member(0).start();
      await cluster.patiently('it is back', () => root.status());
    };
    await restart();
    expect(await root.put('a', 'c')).toBe(revision + 1n);
    await restart();
    const watch = root.watch({ key: 'a' }, { fromRevision: revision })[Symbol.asyncIterator]();
    expect((await watch.next()).value).toMatchObject({ kind: 'put' });
    await watch.return?.();
    await restart();
    for await (const part of root.snapshot()) expect(part.length).toBeGreaterThan(0);
  });
});

describe.concurrent.each(etcdVersions.filter((version) => minorOf(version) >= 4))('users of etcd %s', (version) => {
  it('enter a learner, which gives no tokens, with that of another member', async () => {
    await using cluster = await startEtcd({ version });
    await enableUsers(cluster);
    using connections = new EtcdConnections();
    const enter = ({ endpoint }: EtcdProcess) =>
      connections.to({ url: endpoint.url, credentials: { ...credentials, realm: 'one' } });
    const learner = await cluster.prepareMember();
    const root = enter(cluster.member(0));
    const { id } = await root.memberAdd([learner.peerURL], { learner: true });
    cluster.startAdded(learner);
    const there = enter(learner);
    await until('it follows a leader', async () => ((await there.status()).leader === 0n ? undefined : true));
    await until('it is promoted', async () => {
      await root.memberPromote(id);
      return true;
    });
    await until('it takes writes of root', async () => (await there.put('a', 'b')) > 0n || undefined);
  });
});
