import { afterEach, describe, expect, it } from 'vitest';
import { type FakeRequest, fakeApiServer, json } from '../../test/support/fake-api-server.ts';
import { samplePod } from '../../test/support/sample-objects.ts';
import { anonymousAccess } from './config.ts';
import { connectTo } from './connection.ts';
import { HttpKubeClient } from './http-client.ts';
import { pods } from './resource.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A paging server with so many pods of so many bytes. */
async function serverWith(sizes: readonly number[]): Promise<{
  readonly client: HttpKubeClient;
  readonly requests: readonly FakeRequest[];
  readonly sent: () => number;
}> {
  let most = 0;
  const server = await fakeApiServer((response, { query }) => {
    const from = Number(query.get('continue') ?? 0);
    const to = Math.min(from + Number(query.get('limit')), sizes.length);
    const items = sizes.slice(from, to).map((size, index) => ({
      ...samplePod(`p${from + index}`, 1, { annotations: { bulk: 'x'.repeat(size) } }),
    }));
    const next = to < sizes.length ? { continue: String(to) } : {};
    most = Math.max(most, to - from);
    json(response, { metadata: { resourceVersion: '9', ...next }, items });
  });
  const connection = connectTo(anonymousAccess(server.url), { userAgent: 'tester' });
  cleanups.push(() => server[Symbol.asyncDispose]());
  cleanups.push(() => connection.close());
  return { client: new HttpKubeClient(connection, { fieldManager: 't' }), requests: server.requests, sent: () => most };
}

const mebibyte = 1024 * 1024;

describe('a list of large objects', () => {
  it('is read in pages of at most 2 MiB, each object once and in order', async () => {
    const sizes = Array.from({ length: 120 }, (_, index) => (index % 10 === 9 ? 1.4 * mebibyte : 10));
    const { client } = await serverWith(sizes);
    const names: string[] = [];
    for await (const { items } of client.pages(pods)) {
      expect(JSON.stringify(items).length).toBeLessThan(2 * mebibyte);
      names.push(...items.map(({ metadata }) => metadata.name));
    }
    expect(names).toEqual(sizes.map((_, index) => `p${index}`));
  });

  it('uses smaller pages after an oversized page, and larger pages after small ones', async () => {
    const { client, requests } = await serverWith([...Array(20).fill(1.4 * mebibyte), ...Array(2000).fill(10)]);
    expect((await client.list(pods)).items).toHaveLength(2020);
    const limits = requests.map(({ query }) => Number(query.get('limit')));
    expect(limits.slice(0, 4)).toEqual([10, 1, 1, 1]);
    expect(Math.max(...limits)).toBe(200);
    expect(requests.length).toBeLessThan(40);
  });

  it('requests no further page once `enough` objects are read', async () => {
    const { client, requests } = await serverWith(Array(50).fill(10));
    expect((await client.list(pods, { limit: 1, enough: 1 })).items).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });
});

describe('an endless answer', () => {
  it('to a get is aborted', async () => {
    const server = await fakeApiServer((response) => {
      const chunk = 'x'.repeat(mebibyte);
      const push = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', push);
      };
      push();
    });
    const connection = connectTo(anonymousAccess(server.url), { userAgent: 'tester' });
    cleanups.push(() => server[Symbol.asyncDispose]());
    cleanups.push(() => connection.close());
    const client = new HttpKubeClient(connection, { fieldManager: 't' });
    const failure = { kind: 'unreachable', message: expect.stringContaining('larger than 16777216 bytes') };
    await expect(client.get(pods, { namespace: 'a', name: 'b' })).rejects.toMatchObject(failure);
    const watching = (async () => {
      for await (const _ of client.watch(pods, { resourceVersion: '1' })) expect.unreachable();
    })();
    await expect(watching).rejects.toThrow('a line of the answer has more than 16777216 characters');
  });
});
