import { describe, expect, it } from 'vitest';
import { type Ask, asking, labState } from '../../../test/support/lab-requests.ts';
import { at, type Fields } from '../json.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const foos = '/apis/example.com/v1/namespaces/default/foos';
const text = { type: 'string' };
const part = { type: 'object', properties: { a: text, b: text } };
const version = {
  name: 'v1',
  served: true,
  storage: true,
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: part, status: part } } },
};
const definition = {
  metadata: { name: 'foos.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'foos', kind: 'Foo' }, versions: [version] },
};
const foo = (content: object): Fields => ({ apiVersion: 'example.com/v1', kind: 'Foo', ...content });

async function served(): Promise<Ask> {
  const ask = asking(labState());
  await ask('POST', definitions, { body: definition });
  return ask;
}
const apply = (ask: Ask, content: object, path = `${foos}/f`): Promise<Fields> =>
  ask('PATCH', `${path}?fieldManager=kubectl`, {
    body: foo({ metadata: { name: 'f' }, ...content }),
    contentType: 'application/apply-patch+yaml',
  });
const merge = (ask: Ask, path: string, body: object): Promise<Fields> =>
  ask('PATCH', path, { body, contentType: 'application/merge-patch+json' });

describe('server-side apply', () => {
  it('ignores a status that was copied into the configuration', async () => {
    const ask = await served();
    await apply(ask, { spec: { a: '1' }, status: { a: 'old' } });
    await merge(ask, `${foos}/f/status?fieldManager=operator`, { status: { a: 'new' } });
    const next = await apply(ask, { spec: { a: '2' }, status: { a: 'old' } });
    expect(next).toMatchObject({ spec: { a: '2' }, status: { a: 'new' } });
  });

  it('does not own fields that the server adds', async () => {
    const ask = asking(labState());
    const path = `${definitions}/foos.example.com?fieldManager=me`;
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definition };
    const sent = { body, contentType: 'application/apply-patch+yaml' };
    const made = await ask('PATCH', path, sent);
    expect(made).toMatchObject({ metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } });
    expect(await ask('PATCH', path, sent)).toEqual(made);
  });

  it('does not create an object from its status alone', async () => {
    const ask = await served();
    await expect(apply(ask, { status: { a: '1' } }, `${foos}/f/status`)).rejects.toThrow('not found');
  });

  it('takes over fields that kubectl applied on the client side', async () => {
    const ask = await served();
    const spec = { a: '1', b: '1' };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(foo({ spec })) };
    const body = foo({ metadata: { name: 'f', annotations }, spec });
    await ask('POST', `${foos}?fieldManager=kubectl-client-side-apply`, { body });
    expect(await apply(ask, { spec: { a: '2', b: '1' } })).toMatchObject({ spec: { a: '2' } });
    await merge(ask, `${foos}/f?fieldManager=other`, { spec: { b: '3' } });
    await expect(apply(ask, { spec: { a: '2', b: '4' } })).rejects.toThrow('conflict with "other"');
  });

  it('accepts corrected managedFields from a client', async () => {
    const ask = await served();
    await ask('POST', `${foos}?fieldManager=other`, { body: foo({ metadata: { name: 'f' }, spec: { a: '1' } }) });
    const replace = [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }];
    const next = await ask('PATCH', `${foos}/f`, { body: replace, contentType: 'application/json-patch+json' });
    expect(at(next, 'metadata', 'managedFields')).toEqual([]);
    expect(await apply(ask, { spec: { a: '2' } })).toMatchObject({ spec: { a: '2' } });
  });
});
