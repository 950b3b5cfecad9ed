import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';
import { forwardedSocket, portForward } from '../../src/kube/port-forward.ts';
import { pods } from '../../src/kube/resource.ts';
import { kubeconfigPath, type TestAccess, testAccess } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';

let test: TestAccess;
let access: Access;
const request = 'GET / HTTP/1.0\r\n\r\n';

beforeAll(async () => {
  access = await fromKubeconfig(kubeconfigPath());
  test = await testAccess();
  const { client, namespace } = test;
  const at = { namespace, name: 'web' };
  const serve = 'mkdir /www; yes 0123456789 | head -c 3000000 > /www/index.html; httpd -f -h /www -p 8080';
  const container = { name: 'web', image: 'busybox', command: ['sh', '-c', serve] };
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
  const spec = { containers: [{ ...container, readinessProbe }], terminationGracePeriodSeconds: 0 };
  await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: at, spec });
  const isReady = async (): Promise<true | undefined> => {
    const { status } = await client.get(pods, at);
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') || undefined;
  };
  await until('the pod serves', isReady, { seconds: 60 });
}, 90_000);
afterAll(() => test[Symbol.asyncDispose]());

describe('a port-forward', () => {
  it('carries a request and a response of 3 MB', async () => {
    const stream = await portForward(access, { namespace: test.namespace, name: 'web', port: 8080 });
    stream.write(request);
    const answer = await text(stream);
    expect(answer).toContain('200 OK');
    expect(answer.length).toBeGreaterThan(3_000_000);
  });

  it('serves several sockets at once', async () => {
    const target = { namespace: test.namespace, name: 'web', port: 8080 };
    const answers = Array.from({ length: 3 }, async () => {
      const socket = await forwardedSocket(access, target);
      socket.write(request);
      return (await text(socket)).length;
    });
    for (const length of await Promise.all(answers)) expect(length).toBeGreaterThan(3_000_000);
  });

  it('to a closed port or a missing pod fails as unreachable', async () => {
    const closed = portForward(access, { namespace: test.namespace, name: 'web', port: 9 });
    const response = (async () => await text(await closed))();
    await expect(response).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/web port 9: .*refused/),
    });
    const absent = portForward(access, { namespace: test.namespace, name: 'none', port: 8080 });
    await expect(absent).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('ends when its signal is aborted', async () => {
    const stop = new AbortController();
    const stream = await portForward(access, { namespace: test.namespace, name: 'web', port: 8080 }, stop.signal);
    const ended = text(stream);
    stop.abort();
    await expect(ended).rejects.toThrow('aborted');
  });
});
