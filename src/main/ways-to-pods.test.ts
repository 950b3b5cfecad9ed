import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../../test/support/etcd-connect.ts';
import { startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { Failure } from '../std/failure.ts';
import { makeAuthority } from '../std/pki.ts';
import { type WaysOptions, waysToPods } from './ways-to-pods.ts';

const pod = { namespace: 'default', name: 'db-0' };
/** No network has a way to it, and nothing is sent: the kernel says so at once. */
const nowhere = { host: '255.255.255.255', port: 2379 };
const patient = new AbortController().signal;

function ways(options: Partial<WaysOptions> = {}) {
  const forwarded: string[] = [];
  const opened: Socket[] = [];
  let found = 0;
  const forward = async ({ namespace, name, port }: Parameters<WaysOptions['forward']>[0]) => {
    forwarded.push(`${namespace}/${name}:${port}`);
    return opened[opened.push(new Socket()) - 1] as Socket;
  };
  const to = waysToPods({ forward, straight: true, onForwards: () => found++, ...options });
  return { to, forwarded, opened, found: () => found };
}

/** How etcd answers a question for its version; and how something else may. */
const etcdAnswer = 'HTTP/1.1 200 OK\r\n\r\n{"etcdserver":"3.6.16","etcdcluster":"3.6.0"}';
const otherAnswer = 'HTTP/1.1 200 OK\r\n\r\n<html>Sign in to this network</html>';
const plain = { url: 'http://db-0.db.default.svc:2379' };
const at = ({ port }: { readonly port: number }) => ({ host: '127.0.0.1', port });

describe('the way to a pod', () => {
  it('is straight where etcd answers at its address', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded } = ways();
    const stream = await to(pod, at(server), plain)(patient);
    expect(forwarded).toEqual([]);
    stream.destroy();
  });

  it.each([
    ['a sign-in page', otherAnswer],
    ['a server that says nothing', undefined],
    ['a server that hangs up', ''],
  ])('is a port-forward where %s is at its address, and from then on for every pod', async (_, greeting) => {
    await using other = await listen(greeting);
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = ways();
    await to(pod, at(other), plain)(patient);
    await to({ ...pod, name: 'db-1' }, at(server), plain)(patient);
    expect(forwarded).toEqual([`default/db-0:${other.port}`, `default/db-1:${server.port}`]);
    expect([found(), server.sockets]).toEqual([1, []]);
  });

  it.each([
    ['a port-forward where the certificate at its address is not of the cluster', false],
    ['straight where the certificate at its address is of the cluster', true],
  ])('is %s', async (_, isOurs) => {
    const [ours, other] = [await makeAuthority('ours'), await makeAuthority('other')];
    const identity = await ours.issue({ commonName: 'db-0', dns: ['db-0'] });
    await using fake = await startFakeEtcd({}, identity);
    const { to, forwarded, found } = ways();
    const tls = { ca: (isOurs ? ours : other).certificate };
    (await to(pod, at(fake), { url: 'https://db-0:2379', tls })(patient)).destroy();
    expect([forwarded.length, found()]).toEqual(isOurs ? [0, 0] : [1, 1]);
  });

  it('is a port-forward this one time where etcd does not answer yet, but did at another address', async () => {
    await using starting = await listen();
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = ways();
    for (const each of [server, starting, server]) (await to(pod, at(each), plain)(patient)).destroy();
    expect([forwarded, found()]).toEqual([[`default/db-0:${starting.port}`], 0]);
  });

  it('to a port that is not etcd is straight only once etcd has answered somewhere', async () => {
    await using agent = await listen('progress');
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = ways();
    await to(pod, at(agent))(patient);
    (await to(pod, at(server), plain)(patient)).destroy();
    (await to(pod, at(agent))(patient)).destroy();
    expect([forwarded.length, found()]).toEqual([1, 0]);
  });

  it('is a port-forward where no network leads to it, and from then on for every pod', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = ways();
    await to(pod, nowhere, plain)(patient);
    await to({ ...pod, name: 'db-1' }, at(server), plain)(patient);
    expect(forwarded).toEqual(['default/db-0:2379', `default/db-1:${server.port}`]);
    expect([found(), server.sockets]).toEqual([1, []]);
  });

  it('is a port-forward this one time where the address refuses us', async () => {
    const { port, ...closing } = await listen();
    await closing[Symbol.asyncDispose]();
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = ways();
    await to(pod, { host: '127.0.0.1', port }, plain)(patient);
    (await to(pod, at(server), plain)(patient)).destroy();
    expect([forwarded.length, found()]).toEqual([1, 0]);
  });

  it('is not remembered where the port-forward fails too: the node may be lost', async () => {
    await using server = await listen(etcdAnswer);
    const { to, found } = ways({ forward: () => Promise.reject(new Failure('unreachable', 'no answer')) });
    await expect(to(pod, nowhere, plain)(patient)).rejects.toThrow('no answer');
    (await to(pod, at(server), plain)(patient)).destroy();
    expect(found()).toBe(0);
  });

  it('is never straight where that is not wanted', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded } = ways({ straight: false });
    await to(pod, at(server), plain)(patient);
    expect(forwarded).toHaveLength(1);
  });

  it('is closed again when it was given up before it was found, and what was found out is kept', async () => {
    const { to, opened, found } = ways();
    await expect(to(pod, nowhere, plain)(AbortSignal.abort())).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => opened.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(found()).toBe(1);
  });
});
