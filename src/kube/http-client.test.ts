import { afterEach, describe, expect, it } from 'vitest';
import { type FakeAnswer, type FakeRequest, fakeApiServer, json, refuse } from '../../test/support/fake-api-server.ts';
import { samplePod } from '../../test/support/sample-objects.ts';
import { fencedKubeClient } from '../runtime/fenced-kube-client.ts';
import { type Access, anonymousAccess } from './config.ts';
import { connectTo } from './connection.ts';
import { HttpKubeClient } from './http-client.ts';
import { portForward } from './port-forward.ts';
import { pods, selfSubjectAccessReviews } from './resource.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serverThat(answer: FakeAnswer): Promise<{ client: HttpKubeClient; requests: readonly FakeRequest[] }> {
  const server = await fakeApiServer(answer);
  const connection = connectTo(anonymousAccess(`${server.url}/below/`), { userAgent: 'tester/1' });
  cleanups.push(() => server[Symbol.asyncDispose]());
  cleanups.push(() => connection.close());
  return { client: new HttpKubeClient(connection, { fieldManager: 'tester' }), requests: server.requests };
}

const echo: FakeAnswer = (response, { body }) => json(response, body === '' ? samplePod('a', 1) : JSON.parse(body));
const at = { namespace: 'default', name: 'a' };

describe('credentials that never arrive', () => {
  const never = (): Promise<never> => new Promise(() => {});
  const clientWith = (access: Partial<Access>, url = 'http://127.0.0.1:1'): HttpKubeClient => {
    const connection = connectTo({ ...anonymousAccess(url), ...access }, { userAgent: 'tester/1' });
    cleanups.push(() => connection.close());
    return new HttpKubeClient(connection, { fieldManager: 'tester' });
  };

  it.each([
    ['tokens', () => clientWith({ headers: never })],
    ['certificates', () => clientWith({ tls: never }, 'https://127.0.0.1:1')],
  ])('block a request only until its signal aborts, and a watch only until its time-out: %s', async (_, to) => {
    const stop = new AbortController();
    const request = to().get(pods, at, { signal: stop.signal });
    stop.abort(new Error('shutting down'));
    await expect(request).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/shutting down/),
    });
    const watching = Array.fromAsync(to().watch(pods, { resourceVersion: '1', timeoutSeconds: 0.02 }));
    await expect(watching).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/no answer within/),
    });
  });

  it('block a port-forward only until its signal aborts', async () => {
    const access = { ...anonymousAccess('http://127.0.0.1:1'), headers: never };
    const stop = AbortSignal.abort();
    await expect(portForward(access, { ...at, port: 1 }, stop)).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'port-forward pods default/a port 1: aborted',
    });
  });
});

describe('a request', () => {
  it('is confirmed after credentials are loaded, and is not sent if that fails', async () => {
    let leads = true;
    const server = await fakeApiServer(echo);
    const headers = async (): Promise<Record<string, string>> => {
      leads = false; // the process was paused while it read its token
      return {};
    };
    const connection = connectTo({ ...anonymousAccess(server.url), headers }, { userAgent: 'tester/1' });
    cleanups.push(() => server[Symbol.asyncDispose]());
    cleanups.push(() => connection.close());
    const client = fencedKubeClient(new HttpKubeClient(connection, { fieldManager: 'tester' }), () => leads);
    const writes = [
      () => client.create(pods, samplePod('a', 1)),
      () => client.update(pods, samplePod('a', 1)),
      () => client.patch(pods, at, { type: 'merge', body: {} }),
      () => client.remove(pods, at),
    ];
    for (const write of writes) {
      leads = true;
      await expect(write()).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('lead') });
    }
    expect(server.requests).toEqual([]);
    expect(await client.get(pods, at)).toEqual(samplePod('a', 1));
  });

  it('is sent with a new token after the server rejected the cached one', async () => {
    const sent: unknown[] = [];
    const server = await fakeApiServer((response, { headers }) => {
      sent.push(headers.authorization);
      return headers.authorization === 'new'
        ? json(response, samplePod('a', 1))
        : refuse(response, 401, 'Unauthorized');
    });
    let token = 'old';
    const headers = async () => ({ authorization: token });
    const onUnauthorized = (): void => void (token = 'new');
    const connection = connectTo(
      { ...anonymousAccess(server.url), headers, onUnauthorized },
      { userAgent: 'tester/1' },
    );
    cleanups.push(() => server[Symbol.asyncDispose]());
    cleanups.push(() => connection.close());
    const client = new HttpKubeClient(connection, { fieldManager: 'tester' });
    await expect(client.get(pods, at)).rejects.toMatchObject({ kind: 'unreachable', reason: 'Unauthorized' });
    expect(await client.get(pods, at)).toEqual(samplePod('a', 1));
    expect(sent).toEqual(['old', 'new']);
  });

  it('has the path prefix of the server URL and the user agent', async () => {
    const { client, requests } = await serverThat(echo);
    expect(await client.get(pods, at)).toEqual(samplePod('a', 1));
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/below/api/v1/namespaces/default/pods/a' });
    expect(requests[0]?.headers).toMatchObject({ 'user-agent': 'tester/1', accept: 'application/json' });
  });

  it('to write carries the object and the field manager', async () => {
    const { client, requests } = await serverThat(echo);
    const pod = samplePod('a', 1);
    await client.create(pods, pod, { dryRun: true });
    await client.update(pods, pod, { subresource: 'status' });
    expect(requests).toMatchObject([
      { method: 'POST', path: '/below/api/v1/namespaces/default/pods', body: JSON.stringify(pod) },
      { method: 'PUT', path: '/below/api/v1/namespaces/default/pods/a/status' },
    ]);
    expect(String(requests[0]?.query)).toBe('fieldManager=tester&dryRun=All');
    expect(requests[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([
    [{ type: 'json', body: [] }, 'application/json-patch+json'],
    [{ type: 'merge', body: {} }, 'application/merge-patch+json'],
    [{ type: 'strategic', body: {} }, 'application/strategic-merge-patch+json'],
    [{ type: 'apply', body: {}, force: true }, 'application/apply-patch+yaml'],
  ] as const)('to patch has the content type of the patch: %j', async (patch, contentType) => {
    const { client, requests } = await serverThat(echo);
    await client.patch(pods, at, patch);
    expect(requests[0]?.headers['content-type']).toBe(contentType);
    expect(requests[0]?.query.get('force')).toBe(patch.type === 'apply' ? 'true' : null);
  });

  it('to delete carries its preconditions', async () => {
    const { client, requests } = await serverThat(echo);
    const preconditions = { uid: 'u', resourceVersion: '7' };
    await client.remove(pods, at, { preconditions, gracePeriodSeconds: 0, propagationPolicy: 'Foreground' });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
    });
    await expect(client.remove(pods, { namespace: 'default', name: '' })).rejects.toThrow('is not a name');
    expect(requests).toHaveLength(1);
  });

  it('for a review returns the status', async () => {
    const { client, requests } = await serverThat((response) => json(response, { status: { allowed: true } }, 201));
    const spec = { resourceAttributes: { verb: 'list', resource: 'pods' } };
    expect(await client.review(selfSubjectAccessReviews, spec)).toEqual({ allowed: true });
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ kind: 'SelfSubjectAccessReview', spec });
  });
});

describe('a list', () => {
  it('is read page by page, and its items have apiVersion and kind', async () => {
    const { client, requests } = await serverThat((response, { query }) => {
      const { apiVersion: _, kind: __, ...pod } = samplePod(query.get('continue') ?? 'first', 1);
      const next = { first: 'second', second: undefined }[pod.metadata.name];
      json(response, { metadata: { resourceVersion: '9', continue: next }, items: [pod] });
    });
    const { items, resourceVersion } = await client.list(pods, { limit: 1, labelSelector: 'app in (a,b)' });
    expect(items).toEqual([samplePod('first', 1), samplePod('second', 1)]);
    expect(resourceVersion).toBe('9');
    expect(requests.map(({ query }) => String(query))).toEqual([
      'limit=1&labelSelector=app+in+%28a%2Cb%29',
      'limit=1&continue=second&labelSelector=app+in+%28a%2Cb%29',
    ]);
  });
});

describe('a request that fails', () => {
  it('names verb, object and the message of the server', async () => {
    const { client } = await serverThat((response) => refuse(response, 403, 'Forbidden'));
    const failure = { kind: 'forbidden', message: 'update pods/status default/a: it is Forbidden' };
    await expect(client.update(pods, samplePod('a', 1), { subresource: 'status' })).rejects.toMatchObject(failure);
    await expect(client.list(pods, { namespace: 'x' })).rejects.toThrow('list pods in x: it is Forbidden');
    const watching = (async () => {
      for await (const _ of client.watch(pods, { resourceVersion: '1' })) expect.unreachable();
    })();
    await expect(watching).rejects.toThrow('watch pods: it is Forbidden');
  });

  it('carries the Retry-After time', async () => {
    const { client } = await serverThat((response) => {
      response.setHeader('retry-after', '12');
      refuse(response, 429, 'TooManyRequests');
    });
    await expect(client.get(pods, at)).rejects.toMatchObject({ kind: 'unreachable', retryAfterSeconds: 12 });
  });

  it.each<[string, FakeAnswer]>([
    ['hangs up', (response) => void response.destroy()],
    ['sends nothing', () => {}],
    ['stalls in the middle', (response) => void response.writeHead(200, { 'content-length': '99' }).write('{')],
    ['hangs up in the middle', (response) => void response.write('{', () => response.destroy())],
    ['answers with HTML', (response) => void response.end('<html>')],
    [
      'answers byte by byte',
      (response) => {
        const timer = setInterval(() => response.write(' '), 100);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('is unreachable when the server %s', async (_, answer) => {
    const { client } = await serverThat(answer);
    const failing = client.get(pods, at, { timeoutSeconds: 0.5 });
    await expect(failing).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^get pods default\/a: /),
    });
  });

  it('is unreachable when no server listens', async () => {
    const connection = connectTo(anonymousAccess('http://127.0.0.1:1'), { userAgent: 'x' });
    const client = new HttpKubeClient(connection, { fieldManager: 'x' });
    await expect(client.read('/version')).rejects.toThrow('get /version: connect ECONNREFUSED 127.0.0.1:1');
    await connection.close();
  });

  it('ends when its signal aborts, before or during the request', async () => {
    const { client } = await serverThat(() => {});
    const stop = new AbortController();
    const waiting = client.get(pods, at, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('shutting down')), 50);
    await expect(waiting).rejects.toThrow('get pods default/a: aborted before the answer (shutting down)');
    await expect(client.get(pods, at, { signal: stop.signal })).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('a watch', () => {
  it('aborts its request when the consumer stops', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { client } = await serverThat((response) => {
      response.on('close', () => resolve());
      response.write(`${JSON.stringify({ type: 'ADDED', object: samplePod('a', 1) })}\n`);
    });
    for await (const event of client.watch(pods, { resourceVersion: '1' })) {
      expect(event).toEqual({ type: 'ADDED', object: samplePod('a', 1) });
      break;
    }
    await closed;
  });
});
