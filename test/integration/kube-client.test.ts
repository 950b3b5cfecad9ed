import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { Secret } from '../../src/kube/object.ts';
import { pods, secrets, selfSubjectAccessReviews, selfSubjectRulesReviews, services } from '../../src/kube/resource.ts';
import type { WatchEvent } from '../../src/kube/watch-events.ts';
import { type TestAccess, testAccess } from '../support/kube-connection.ts';

let access: TestAccess;
beforeAll(async () => {
  access = await testAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

const secret = (name: string, labels: Record<string, string> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: access.namespace, name, labels },
  stringData: { key: 'value' },
});

describe('an object', () => {
  it('is created, read, changed and deleted', async () => {
    const { client } = access;
    const created = await client.create(secrets, secret('life'));
    expect(created).toMatchObject({ kind: 'Secret', data: { key: 'dmFsdWU=' }, metadata: { name: 'life' } });
    expect(await client.get(secrets, created.metadata)).toEqual(created);
    const updated = await client.update(secrets, { ...created, data: { key: 'b3RoZXI=' } });
    expect(updated.data).toEqual({ key: 'b3RoZXI=' });
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    await client.remove(secrets, created.metadata);
    await expect(client.get(secrets, created.metadata)).rejects.toMatchObject({
      kind: 'not-found',
      message: `get secrets ${access.namespace}/life: secrets "life" not found`,
    });
  });

  it('keeps fields that are missing in our types through an update', async () => {
    const { client, namespace } = access;
    const port = { port: 80, appProtocol: 'h2c' };
    const spec = { ports: [port], clusterIP: 'None', trafficDistribution: 'PreferClose' };
    const created = await client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name: 'fields' },
      spec,
    });
    expect(await client.update(services, created)).toMatchObject({ spec: { trafficDistribution: 'PreferClose' } });
  });

  it('created twice fails with AlreadyExists, which differs from an update conflict', async () => {
    const { client } = access;
    const first = await client.create(secrets, secret('twice'));
    const second = client.create(secrets, secret('twice'));
    await expect(second).rejects.toSatisfy(isAlreadyExists);
    await expect(second).rejects.toMatchObject({ kind: 'conflict' });
    await client.patch(secrets, first.metadata, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    const stale = client.update(secrets, first);
    await expect(stale).rejects.toMatchObject({ kind: 'conflict', reason: 'Conflict' });
    await expect(stale).rejects.not.toSatisfy(isAlreadyExists);
  });

  it('is deleted only if UID and resourceVersion match the preconditions', async () => {
    const { client } = access;
    const { metadata } = await client.create(secrets, secret('preconditions'));
    const remove = (preconditions: { uid?: string; resourceVersion?: string }): Promise<void> =>
      client.remove(secrets, metadata, { preconditions });
    const { uid, resourceVersion } = metadata;
    await expect(remove({ uid: '00000000-0000-0000-0000-000000000000' })).rejects.toMatchObject({ kind: 'conflict' });
    await expect(remove({ uid, resourceVersion: '1' })).rejects.toMatchObject({ kind: 'conflict' });
    expect((await client.get(secrets, metadata)).metadata.uid).toBe(uid);
    await remove({ uid, resourceVersion });
    await expect(remove({ uid })).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('that is invalid is rejected with the message of the server', async () => {
    const { client, namespace } = access;
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'wrong' }, spec: { containers: [] } };
    await expect(client.create(pods, pod)).rejects.toMatchObject({
      kind: 'rejected',
      reason: 'Invalid',
      message: expect.stringContaining(`create pods ${namespace}/wrong: Pod "wrong" is invalid: spec.containers`),
    });
  });

  it('created in a dry run is not stored', async () => {
    const { client } = access;
    await client.create(secrets, secret('dry'), { dryRun: true });
    await expect(client.get(secrets, secret('dry').metadata)).rejects.toMatchObject({ kind: 'not-found' });
  });
});

describe('a patch', () => {
  it('works as merge, JSON, strategic merge and apply patch', async () => {
    const { client } = access;
    const { metadata: at } = await client.create(secrets, secret('patched', { a: '1' }));
    const labelsAfter = async (patch: Parameters<typeof client.patch>[2]): Promise<unknown> =>
      (await client.patch(secrets, at, patch)).metadata.labels;
    expect(await labelsAfter({ type: 'merge', body: { metadata: { labels: { a: null, b: '2' } } } })).toEqual({
      b: '2',
    });
    const operation = { op: 'add', path: '/metadata/labels/c', value: '3' };
    expect(await labelsAfter({ type: 'json', body: [operation] })).toEqual({ b: '2', c: '3' });
    const strategic = { metadata: { labels: { d: '4' } } };
    expect(await labelsAfter({ type: 'strategic', body: strategic })).toEqual({ b: '2', c: '3', d: '4' });
    const applied = { apiVersion: 'v1', kind: 'Secret', metadata: { labels: { e: '5' } } };
    expect(await labelsAfter({ type: 'apply', body: applied })).toEqual({ b: '2', c: '3', d: '4', e: '5' });
  });

  it('by apply conflicts with fields of another manager unless forced', async () => {
    const { client, connection } = access;
    const { metadata: at } = await client.create(secrets, secret('contested', { a: '1' }));
    const other = new HttpKubeClient(connection, { fieldManager: 'another-manager' });
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { labels: { a: '2' } } };
    await expect(other.patch(secrets, at, { type: 'apply', body })).rejects.toMatchObject({ kind: 'conflict' });
    const forced = await other.patch(secrets, at, { type: 'apply', body, force: true });
    expect(forced.metadata.labels).toEqual({ a: '2' });
  });
});

describe('a list', () => {
  it('returns all pages and only selected objects', async () => {
    const { client, namespace } = access;
    const names = Array.from({ length: 7 }, (_, i) => `listed-${i}`);
    for (const name of names) await client.create(secrets, secret(name, { listed: 'yes' }));
    const pages = [];
    const options = { namespace, labelSelector: 'listed=yes', limit: 3 };
    for await (const page of client.pages(secrets, options)) pages.push(page);
    expect(pages.map(({ items }) => items.length)).toEqual([3, 3, 1]);
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
    const { items } = await client.list(secrets, options);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Secret' });
    const one = await client.list(secrets, { namespace, fieldSelector: 'metadata.name=listed-4' });
    expect(one.items).toHaveLength(1);
  });
});

describe('a watch', () => {
  it('sends the events after a resourceVersion in order', async () => {
    const { client, namespace } = access;
    const { resourceVersion } = await client.list(secrets, { namespace });
    const stop = new AbortController();
    const seen: WatchEvent<Secret>[] = [];
    const watching = (async () => {
      const options = { namespace, resourceVersion, labelSelector: 'watched', signal: stop.signal };
      for await (const event of client.watch(secrets, options)) if (seen.push(event) === 3) return;
    })();
    const { metadata } = await client.create(secrets, secret('watched', { watched: '' }));
    await client.patch(secrets, metadata, { type: 'merge', body: { metadata: { annotations: { a: 'b' } } } });
    await client.create(secrets, secret('not-watched'));
    await client.remove(secrets, metadata);
    await watching;
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    const versions = seen.map((event) => ('object' in event ? Number(event.object.metadata.resourceVersion) : 0));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b)); // the deletion event has a newer version, too
    expect(new Set(versions).size).toBe(3);
  });

  it('ends without error when the server closes it', async () => {
    const { client, namespace } = access;
    const { resourceVersion } = await client.list(secrets, { namespace });
    const types: string[] = [];
    for await (const { type } of client.watch(secrets, { namespace, resourceVersion, lastsSeconds: 1 }))
      types.push(type);
    expect(types.filter((type) => type !== 'BOOKMARK')).toEqual([]);
  });
});

describe('an access review', () => {
  it('returns the permissions of the client', async () => {
    const { client, namespace } = access;
    const resourceAttributes = { namespace, verb: 'delete', resource: 'pods' };
    expect(await client.review(selfSubjectAccessReviews, { resourceAttributes })).toMatchObject({ allowed: true });
    const { resourceRules } = await client.review(selfSubjectRulesReviews, { namespace });
    expect(resourceRules.length).toBeGreaterThan(0);
  });
});
