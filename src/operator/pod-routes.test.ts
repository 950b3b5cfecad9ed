import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../../test/support/etcd-connect.ts';
import { startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { Failure } from '../std/failure.ts';
import { makeAuthority } from '../std/pki.ts';
import { type RouteOptions, routesToPods } from './pod-routes.ts';

const pod = { namespace: 'default', name: 'db-0' };
/** An unroutable address: the kernel fails at once without sending packets. */
const unroutable = { host: '255.255.255.255', port: 2379 };
const neverAborted = new AbortController().signal;

function routes(options: Partial<RouteOptions> = {}) {
  const forwarded: string[] = [];
  const opened: Socket[] = [];
  let found = 0;
  const forward = async ({ namespace, name, port }: Parameters<RouteOptions['forward']>[0]) => {
    forwarded.push(`${namespace}/${name}:${port}`);
    return opened[opened.push(new Socket()) - 1] as Socket;
  };
  const to = routesToPods({ forward, direct: true, onForwards: () => found++, ...options });
  return { to, forwarded, opened, found: () => found };
}

/** The answers of etcd and of another server to a version request. */
const etcdAnswer = 'HTTP/1.1 200 OK\r\n\r\n{"etcdserver":"3.6.16","etcdcluster":"3.6.0"}';
const otherAnswer = 'HTTP/1.1 200 OK\r\n\r\n<html>Sign in to this network</html>';
const plain = { url: 'http://db-0.db.default.svc:2379' };
const at = ({ port }: { readonly port: number }) => ({ host: '127.0.0.1', port });

describe('the route to a pod', () => {
  it('is direct if etcd answers at the pod address', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded } = routes();
    const stream = await to(pod, at(server), plain)(neverAborted);
    expect(forwarded).toEqual([]);
    stream.destroy();
  });

  it.each([
    ['a sign-in page', otherAnswer],
    ['a silent server', undefined],
    ['a server that closes the connection', ''],
  ])('is a port-forward if %s answers at the pod address, and from then on for every pod', async (_, greeting) => {
    await using other = await listen(greeting);
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = routes();
    await to(pod, at(other), plain)(neverAborted);
    await to({ ...pod, name: 'db-1' }, at(server), plain)(neverAborted);
    expect(forwarded).toEqual([`default/db-0:${other.port}`, `default/db-1:${server.port}`]);
    expect([found(), server.sockets]).toEqual([1, []]);
  });

  it.each([
    ['a port-forward if the certificate is not from the CA of the cluster', false],
    ['direct if the certificate is from the CA of the cluster', true],
  ])('is %s', async (_, isOurs) => {
    const [ours, other] = [await makeAuthority('ours'), await makeAuthority('other')];
    const identity = await ours.issue({ commonName: 'db-0', dns: ['db-0'] });
    await using fake = await startFakeEtcd({}, identity);
    const { to, forwarded, found } = routes();
    const tls = { ca: (isOurs ? ours : other).certificate };
    (await to(pod, at(fake), { url: 'https://db-0:2379', tls })(neverAborted)).destroy();
    expect([forwarded.length, found()]).toEqual(isOurs ? [0, 0] : [1, 1]);
  });

  it('is a port-forward once if etcd does not answer yet, but answered at another address', async () => {
    await using starting = await listen();
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = routes();
    for (const each of [server, starting, server]) (await to(pod, at(each), plain)(neverAborted)).destroy();
    expect([forwarded, found()]).toEqual([[`default/db-0:${starting.port}`], 0]);
  });

  it('to a port other than etcd’s is direct only after etcd has answered at some address', async () => {
    await using agent = await listen('progress');
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = routes();
    await to(pod, at(agent))(neverAborted);
    (await to(pod, at(server), plain)(neverAborted)).destroy();
    (await to(pod, at(agent))(neverAborted)).destroy();
    expect([forwarded.length, found()]).toEqual([1, 0]);
  });

  it('is a port-forward if the pod address is unroutable, and from then on for every pod', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = routes();
    await to(pod, unroutable, plain)(neverAborted);
    await to({ ...pod, name: 'db-1' }, at(server), plain)(neverAborted);
    expect(forwarded).toEqual(['default/db-0:2379', `default/db-1:${server.port}`]);
    expect([found(), server.sockets]).toEqual([1, []]);
  });

  it('is a port-forward once if the connection is refused', async () => {
    const { port, ...closing } = await listen();
    await closing[Symbol.asyncDispose]();
    await using server = await listen(etcdAnswer);
    const { to, forwarded, found } = routes();
    await to(pod, { host: '127.0.0.1', port }, plain)(neverAborted);
    (await to(pod, at(server), plain)(neverAborted)).destroy();
    expect([forwarded.length, found()]).toEqual([1, 0]);
  });

  it('is not remembered if the port-forward fails too, because the node may be down', async () => {
    await using server = await listen(etcdAnswer);
    const { to, found } = routes({ forward: () => Promise.reject(new Failure('unreachable', 'no answer')) });
    await expect(to(pod, unroutable, plain)(neverAborted)).rejects.toThrow('no answer');
    (await to(pod, at(server), plain)(neverAborted)).destroy();
    expect(found()).toBe(0);
  });

  it('is never direct with direct: false', async () => {
    await using server = await listen(etcdAnswer);
    const { to, forwarded } = routes({ direct: false });
    await to(pod, at(server), plain)(neverAborted);
    expect(forwarded).toHaveLength(1);
  });

  it('is closed after an abort, and the result is remembered', async () => {
    const { to, opened, found } = routes();
    await expect(to(pod, unroutable, plain)(AbortSignal.abort())).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => opened.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(found()).toBe(1);
  });
});
