import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../../test/support/etcd-connect.ts';
import { Failure } from '../std/failure.ts';
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

describe('the way to a pod', () => {
  it('is straight where its address leads to it', async () => {
    await using server = await listen();
    const { to, forwarded } = ways();
    const stream = await to(pod, { host: '127.0.0.1', port: server.port })(patient);
    expect(forwarded).toEqual([]);
    stream.destroy();
  });

  it('is a port-forward where it does not, and from then on for every pod', async () => {
    await using server = await listen();
    const { to, forwarded, found } = ways();
    await to(pod, nowhere)(patient);
    await to({ ...pod, name: 'db-1' }, { host: '127.0.0.1', port: server.port })(patient);
    expect(forwarded).toEqual(['default/db-0:2379', `default/db-1:${server.port}`]);
    expect([found(), server.sockets]).toEqual([1, []]);
  });

  it('is a port-forward this one time where the address refuses us', async () => {
    const { port, ...closing } = await listen();
    await closing[Symbol.asyncDispose]();
    await using server = await listen();
    const { to, forwarded, found } = ways();
    await to(pod, { host: '127.0.0.1', port })(patient);
    (await to(pod, { host: '127.0.0.1', port: server.port })(patient)).destroy();
    expect([forwarded.length, found()]).toEqual([1, 0]);
  });

  it('is not remembered where the port-forward fails too: the node may be lost', async () => {
    await using server = await listen();
    const { to, found } = ways({ forward: () => Promise.reject(new Failure('unreachable', 'no answer')) });
    await expect(to(pod, nowhere)(patient)).rejects.toThrow('no answer');
    (await to(pod, { host: '127.0.0.1', port: server.port })(patient)).destroy();
    expect(found()).toBe(0);
  });

  it('is never straight where that is not wanted', async () => {
    await using server = await listen();
    const { to, forwarded } = ways({ straight: false });
    await to(pod, { host: '127.0.0.1', port: server.port })(patient);
    expect(forwarded).toHaveLength(1);
  });

  it('is closed again when it was given up before it was found, and what was found out is kept', async () => {
    const { to, opened, found } = ways();
    await expect(to(pod, nowhere)(AbortSignal.abort())).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => opened.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(found()).toBe(1);
  });
});
