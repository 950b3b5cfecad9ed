import { describe, expect, it } from 'vitest';
import { contract, done, type Json } from './support.ts';

const { kubectl, request, patch, namespace } = contract('apply');
const maps = `/api/v1/namespaces/${namespace}/configmaps`;

const apply = (name: string, manager: string, content: { data: Json; force?: boolean }) =>
  request('PATCH', `${maps}/${name}?fieldManager=${manager}${content.force === true ? '&force=true' : ''}`, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: content.data },
    contentType: 'application/apply-patch+yaml',
  });

describe('server-side apply', () => {
  it('creates an object, then changes only the fields of its field manager', async () => {
    expect((await apply('a', 'one', { data: { x: '1', y: '1' } })).code).toBe(201);
    expect((await apply('a', 'two', { data: { z: '1' } })).body['data']).toEqual({ x: '1', y: '1', z: '1' });
    expect((await apply('a', 'one', { data: { x: '2' } })).body['data']).toEqual({ x: '2', z: '1' });
    const { body } = await request('GET', `${maps}/a`);
    const managed = (body['metadata'] as { managedFields: { manager: string }[] }).managedFields;
    // The server sorts entries by the second of their last change, then by manager.
    expect(managed.toSorted((a, b) => a.manager.localeCompare(b.manager))).toMatchObject([
      { manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:x': {} } } },
      { manager: 'two', operation: 'Apply', fieldsV1: { 'f:data': { 'f:z': {} } } },
    ]);
  });

  it('keeps resourceVersion and managedFields if nothing changes', async () => {
    const first = await apply('same', 'one', { data: { x: '1' } });
    const second = await apply('same', 'one', { data: { x: '1' } });
    expect(second.body['metadata']).toEqual(first.body['metadata']);
  });

  it('rejects a change to a field of another manager unless forced', async () => {
    await apply('b', 'one', { data: { x: '1' } });
    const refused = await apply('b', 'two', { data: { x: '2' } });
    expect(refused.body).toMatchObject({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .data.x',
    });
    expect((await apply('b', 'two', { data: { x: '2' }, force: true })).body['data']).toEqual({ x: '2' });
    expect((await apply('b', 'two', { data: { x: '2' } })).code).toBe(200);
    expect((await apply('b', 'one', { data: {} })).body['data']).toEqual({ x: '2' });
  });

  it('is rejected without a field manager', async () => {
    const { code } = await request('PATCH', `${maps}/c`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap' },
      contentType: 'application/apply-patch+yaml',
    });
    expect(code).toBe(422);
  });

  it('ignores status in a request for the object, and does not create an object through /status', async () => {
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const labels = { a: 'b' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'busybox' }] } };
    const copied = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } },
      ...{
        spec: { replicas: 0, paused: true, selector: { matchLabels: labels }, template },
        status: { collisionCount: 7 },
      },
    };
    const sent = (path: string) =>
      request('PATCH', `${deployments}/${path}?fieldManager=me`, {
        body: copied,
        contentType: 'application/apply-patch+yaml',
      });
    expect((await sent('d/status')).code).toBe(404);
    const made = await sent('d');
    expect(made.code).toBe(201);
    const [mine] = (made.body['metadata'] as { managedFields: { fieldsV1: Json }[] }).managedFields;
    expect(mine?.fieldsV1).toHaveProperty(['f:spec', 'f:replicas']);
    expect(mine?.fieldsV1).not.toHaveProperty(['f:spec', 'f:strategy']);
    expect(mine?.fieldsV1).not.toHaveProperty(['f:status']);
    const { code, body } = await sent('d');
    expect(code).toBe(200);
    expect(body).not.toHaveProperty('status.collisionCount');
    expect((await sent('d/status')).body).toMatchObject({ status: { collisionCount: 7 } });
  });

  it('takes over fields of client-side kubectl apply, and reports conflicts with other managers', async () => {
    const file = (x: string, y: string) => ({
      input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { x, y } }),
    });
    await kubectl('apply -f -', file('1', '1'));
    await kubectl('apply --server-side -f -', file('2', '1'));
    expect(await done(request('GET', `${maps}/m`))).toMatchObject({ data: { x: '2' } });
    await done(patch(`${maps}/m?fieldManager=another-manager`, { data: { y: '3' } }));
    expect(await kubectl.refused('apply --server-side -f -', file('2', '4'))).toContain(
      'conflict with "another-manager"',
    );
  });

  it('by kubectl apply --server-side merges lists by key and reports conflicts', async () => {
    const services = `/api/v1/namespaces/${namespace}/services`;
    const service = (ports: readonly object[]): { input: string } => ({
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } }),
    });
    const [http, https] = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    await kubectl('apply --server-side -f -', service([http, https]));
    await kubectl('apply --server-side -f -', service([https]));
    const { spec } = (await done(request('GET', `${services}/s`))) as { spec: { ports: readonly { name: string }[] } };
    expect(spec.ports.map(({ name }) => name)).toEqual(['https']);
    await kubectl('patch service s -p \'{"spec":{"ports":[{"port":443,"appProtocol":"x"}]}}\'');
    expect(await kubectl.refused('apply --server-side -f -', service([{ ...https, appProtocol: 'y' }]))).toMatch(
      /conflict with "kubectl-patch" using v1/,
    );
  });
});
