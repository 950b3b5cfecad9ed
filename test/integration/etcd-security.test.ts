import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../../lab/pki.ts';
import { rereadsCertificates } from '../../src/core/cluster/model/version.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { servedCertificate } from '../../src/etcd/served-certificate.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { type EtcdProcess, minorOf } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const tlsFailure = { kind: 'unreachable', message: expect.stringContaining('TLS failed') };

describe.concurrent.each(etcdVersions)('a TLS connection to etcd %s', (version) => {
  it('needs a client certificate, a trusted CA, and the server name of the certificate', async () => {
    await using cluster = await startEtcd({ version, tls: true, size: 2 });
    const { url, tls } = cluster.member(0).endpoint;
    if (tls === undefined) throw new Error('expected a cluster with TLS');
    const statusOf = (endpoint: Endpoint): Promise<unknown> => cluster.connect(endpoint).status();
    const port = Number(new URL(url).port);
    expect(await statusOf({ url, tls })).toMatchObject({ version });
    const { serverName: name = '', ...unnamed } = tls;
    const dial = { host: '127.0.0.1', port };
    expect(await statusOf({ url: `https://${name}:1`, tls: unnamed, dial })).toMatchObject({ version });

    const wrong: Readonly<Record<string, Endpoint>> = {
      'another name is expected': { url, tls: { ...tls, serverName: 'm9.etcd.test' } },
      'the address is expected': { url, tls: unnamed },
      'another CA is trusted': { url, tls: { ...tls, ca: (await makeAuthority('other')).certificate } },
      'the client has no certificate': { url, tls: { ca: tls.ca, serverName: name } },
      'no CA is trusted': { url },
    };
    for (const [why, endpoint] of Object.entries(wrong))
      await expect(statusOf(endpoint), why).rejects.toMatchObject(tlsFailure);
    await expect(statusOf({ url: url.replace('https', 'http') })).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe.concurrent.each(etcdVersions)('a renewed certificate of etcd %s', (version) => {
  it(`is served ${rereadsCertificates(version) ? 'without' : 'only after'} a restart`, async () => {
    await using cluster = await startEtcd({ version, tls: true });
    const { name, endpoint } = cluster.member(0);
    const { tls, url } = endpoint;
    if (tls === undefined || cluster.authority === undefined) throw new Error('expected a cluster with TLS');
    const dial = { host: '127.0.0.1', port: Number(new URL(url).port) };
    const served = (): Promise<string> => servedCertificate({ dial, tls }, AbortSignal.timeout(10_000));
    const before = await served();
    const renewed = await cluster.authority.issue({ commonName: name, dns: [`${name}.etcd.test`] });
    writeFileSync(join(cluster.directory, `${name}-server.crt`), renewed.certificate);
    writeFileSync(join(cluster.directory, `${name}-server.key`), renewed.key);
    const after = new X509Certificate(renewed.certificate).fingerprint256;
    expect(await served()).toBe(rereadsCertificates(version) ? after : before);
    await cluster.member(0).stop();
    cluster.member(0).start();
    expect(await until('the member serves a certificate', served, { seconds: 60 })).toBe(after);
  });
});

/** Enables authentication with two users: root with all permissions, guest with none. */
async function enableUsers(cluster: EtcdCluster): Promise<void> {
  for (const user of ['root:secret', 'guest:guest']) await cluster.etcdctl('user', 'add', user);
  await cluster.etcdctl('role', 'add', 'root').catch(() => ''); // later versions have the role already
  await cluster.etcdctl('user', 'grant-role', 'root', 'root');
  await cluster.etcdctl('auth', 'enable');
}

const credentials = { user: 'root', password: 'secret' };

describe.concurrent.each(etcdVersions)('authentication of etcd %s', (version) => {
  it('rejects missing credentials, wrong passwords and missing permissions once it is enabled', async () => {
    await using cluster = await startEtcd({ version });
    const { url } = cluster.member(0).endpoint;
    const anonymous = cluster.connect();
    const root = cluster.connect({ url, credentials });
    const guest = cluster.connect({ url, credentials: { user: 'guest', password: 'guest' } });
    if (minorOf(version) > 1) {
      await expect(anonymous.authenticate('root', 'secret')).rejects.toMatchObject({ refusal: 'auth-not-enabled' });
      await root.put('before', 'auth is enabled');
    }

    await enableUsers(cluster);
    await root.put('after', 'auth is enabled');
    await expect(anonymous.put('a', 'b')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'auth-needed' });
    await expect(guest.put('a', 'b')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'permission-denied' });
    await guest.linearizableRead();
    await anonymous.authenticate('root', 'secret');
    const wrongPassword = cluster.connect({ url, credentials: { user: 'root', password: 'wrong' } });
    await expect(wrongPassword.status()).rejects.toMatchObject({ kind: 'forbidden', refusal: 'wrong-password' });
  });

  it('requests a new token if etcd no longer accepts the old one, for calls, watches and snapshots', async () => {
    await using cluster = await startEtcd({ version });
    await enableUsers(cluster);
    const { url } = cluster.member(0).endpoint;
    const root = cluster.connect({ url, credentials });
    const revision = await root.put('a', 'b');
    /** A restart invalidates all tokens. `status` needs no token in most versions. */
    const restart = async (): Promise<void> => {
      await cluster.member(0).stop();
      cluster.member(0).start();
      await cluster.retry('the member answers again', () => root.status());
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

describe.concurrent.each(etcdVersions.filter((version) => minorOf(version) >= 4))(
  'authentication at a learner of etcd %s',
  (version) => {
    it('uses the token of another member, because learners issue no tokens', async () => {
      await using cluster = await startEtcd({ version });
      await enableUsers(cluster);
      using connections = new EtcdConnections();
      const connectAsRoot = ({ endpoint }: EtcdProcess) =>
        connections.to({ url: endpoint.url, credentials: { ...credentials, realm: 'one' } });
      const learner = await cluster.prepareMember();
      const root = connectAsRoot(cluster.member(0));
      const { id } = await root.memberAdd([learner.peerURL], { learner: true });
      cluster.startAdded(learner);
      const atLearner = connectAsRoot(learner);
      await until('the learner follows a leader', async () =>
        (await atLearner.status()).leader === 0n ? undefined : true,
      );
      await until('the learner is promoted', async () => {
        await root.memberPromote(id);
        return true;
      });
      await until(
        'the promoted member accepts writes of root',
        async () => (await atLearner.put('a', 'b')) > 0n || undefined,
      );
    });
  },
);
