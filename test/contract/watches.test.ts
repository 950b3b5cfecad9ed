import { describe, expect, it } from 'vitest';
import { configMap, contract, type Json } from './support.ts';

const { request, watchEvents, namespace } = contract('watches');
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const metadataOf = (event: Json): Json => (event['object'] as { metadata: Json }).metadata;

describe('a watch', () => {
  it('with sendInitialEvents begins with existing objects and ends them with a bookmark', async () => {
    await request('POST', maps, { body: configMap('first', { metadata: { labels: { w: 'a' } } }) });
    const query =
      'watch=true&labelSelector=w%3Da&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=100';
    const events = await watchEvents(`${maps}?${query}`, 2);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(metadataOf(events[1] ?? {})['annotations']).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  it('reports ADDED and DELETED for objects that enter and leave its label selector', async () => {
    const { body } = await request('GET', maps);
    const version = String((body['metadata'] as Json)['resourceVersion']);
    const query = `watch=true&labelSelector=w%3Db&resourceVersion=${version}&timeoutSeconds=100`;
    const following = watchEvents(`${maps}?${query}`, 3);
    await request('POST', maps, { body: configMap('moving') });
    const patch = (w: string | null) =>
      request('PATCH', `${maps}/moving`, {
        body: { metadata: { labels: { w } } },
        contentType: 'application/merge-patch+json',
      });
    await patch('b');
    await patch(null);
    await request('POST', maps, { body: configMap('last', { metadata: { labels: { w: 'b' } } }) });
    const events = await following;
    expect(events.map((event) => [event['type'], metadataOf(event)['name']])).toEqual([
      ['ADDED', 'moving'],
      ['DELETED', 'moving'],
      ['ADDED', 'last'],
    ]);
  });

  it('of an object can be requested as a Table', async () => {
    const { code, body } = await request('GET', `${maps}/first`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
    });
    expect((body['rows'] as Json[])[0]).toMatchObject({
      cells: ['first', 1, expect.any(String)],
      object: { kind: 'PartialObjectMetadata' },
    });
  });
});

describe('a list', () => {
  it('returns all pages at the resourceVersion of the first page', async () => {
    for (const name of ['p1', 'p2', 'p3'])
      await request('POST', maps, { body: configMap(name, { metadata: { labels: { page: 'yes' } } }) });
    const first = await request('GET', `${maps}?labelSelector=page&limit=2`);
    const { continue: next, resourceVersion } = first.body['metadata'] as Json;
    expect((first.body['items'] as Json[]).length).toBe(2);
    await request('DELETE', `${maps}/p3`);
    const second = await request(
      'GET',
      `${maps}?labelSelector=page&limit=2&continue=${encodeURIComponent(String(next))}`,
    );
    expect(second.body['metadata']).toMatchObject({ resourceVersion });
    expect((second.body['items'] as Json[]).map((item) => (item['metadata'] as Json)['name'])).toEqual(['p3']);
  });

  it('filters by field selector and by set-based label selector', async () => {
    const names = async (query: string): Promise<unknown> =>
      ((await request('GET', `${maps}?${query}`)).body['items'] as Json[]).map(
        (item) => (item['metadata'] as Json)['name'],
      );
    expect(await names('fieldSelector=metadata.name%3Dp1')).toEqual(['p1']);
    expect(await names(`labelSelector=${encodeURIComponent('page in (yes,no),!w')}`)).toEqual(['p1', 'p2']);
    expect((await request('GET', `${maps}?fieldSelector=data.key%3Dx`)).code).toBe(400);
  });
});

describe('a request', () => {
  it('for a missing object gets a Status with reason NotFound', async () => {
    expect((await request('GET', '/apis/nowhere.example.com/v1/things')).body).toEqual({
      text: '404 page not found\n',
    });
    expect((await request('GET', `${maps}/none`)).body).toMatchObject({
      kind: 'Status',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
    });
    expect((await request('POST', `${maps}/none`, { body: {} })).code).toBe(405);
  });

  it('with fieldValidation=Warn gets a Warning header for unknown fields', async () => {
    const { headers, code } = await request('POST', `${maps}?fieldValidation=Warn`, {
      body: { ...configMap('warned'), more: 1 },
    });
    expect(code).toBe(201);
    expect(String(headers['warning'])).toContain('unknown field \\"more\\"');
  });

  it('with a stale resourceVersion or another UID gets 409 Conflict', async () => {
    const { body } = await request('POST', maps, { body: configMap('versions') });
    const change = { body: { metadata: { labels: { a: 'b' } } }, contentType: 'application/merge-patch+json' };
    await request('PATCH', `${maps}/versions`, change);
    expect((await request('PUT', `${maps}/versions`, { body })).body).toMatchObject({ code: 409, reason: 'Conflict' });
    const preconditions = { uid: '11111111-1111-1111-1111-111111111111' };
    expect((await request('DELETE', `${maps}/versions`, { body: { preconditions } })).code).toBe(409);
  });
});
