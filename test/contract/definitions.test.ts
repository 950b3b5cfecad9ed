import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { contract, done, type Json } from './support.ts';

const { kubectl, request, create, watchEvents, namespace } = contract('definitions');
const group = `g${randomBytes(3).toString('hex')}.example.com`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = `/apis/${group}/v1/namespaces/${namespace}/things`;

const a = { type: 'integer' };
const spec = {
  type: 'object',
  'x-kubernetes-validations': [
    { rule: 'self.count >= oldSelf.count', message: 'count must not shrink' },
    { rule: "!has(self.word) || self.word != 'forbidden'", message: 'word is forbidden' },
  ],
  required: ['count'],
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 9 },
    word: { type: 'string', pattern: '^[a-z]*$', maxLength: 10, default: 'hello' },
    choice: { type: 'string', enum: ['a', 'b'] },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    labels: {
      type: 'object',
      additionalProperties: {
        type: 'string',
        'x-kubernetes-validations': [{ rule: 'self != "bad"', message: 'is bad' }],
      },
    },
    some: { type: 'object', properties: { a, b: a }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    either: { type: 'object', properties: { a, b: a }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    both: { type: 'object', properties: { a, b: a }, allOf: [{ required: ['a'] }, { required: ['b'] }] },
    neither: { type: 'object', properties: { a, b: a }, not: { required: ['a'] } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    amount: {
      'x-kubernetes-int-or-string': true,
      'x-kubernetes-validations': [
        { rule: "quantity(string(self)).isLessThan(quantity('2Gi'))", message: 'is too much' },
      ],
    },
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', shortNames: ['th'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec, status: { type: 'object', properties: { ready: { type: 'integer' } } } },
          },
        },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.ready' } },
        additionalPrinterColumns: [
          { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
};

const thing = (name: string, content: Json): Json => ({
  apiVersion: `${group}/v1`,
  kind: 'Thing',
  metadata: { name },
  spec: content,
});

const served = (path: string): Promise<unknown> => until(`${path} is served`, () => done(request('GET', path)));
const removed = (name: string): Promise<unknown> => done(request('DELETE', `${definitions}/${name}`));

beforeAll(async () => {
  await done(create(definition));
  await served(things);
});
afterAll(() => removed(`things.${group}`));

describe('a custom resource', () => {
  it('gets defaults, loses unknown fields, and counts generations of its spec', async () => {
    const { code, body } = await request('POST', things, {
      body: thing('one', { count: 1, unknown: 2, free: { any: [1] }, choice: null }),
    });
    expect(code).toBe(201);
    expect(body['spec']).toEqual({ count: 1, word: 'hello', free: { any: [1] } });
    expect(body['metadata']).toMatchObject({ generation: 1, uid: expect.any(String) });
    const merge = 'application/merge-patch+json';
    await request('PATCH', `${things}/one/status`, {
      body: { spec: { count: 9 }, status: { ready: 1 } },
      contentType: merge,
    });
    const changed = await request('PATCH', `${things}/one`, {
      body: { spec: { count: 3 }, status: { ready: 7 } },
      contentType: merge,
    });
    expect(changed.body).toMatchObject({ metadata: { generation: 2 }, spec: { count: 3 }, status: { ready: 1 } });
    const none = await request('PATCH', `${things}/one/none`, { body: {}, contentType: merge });
    expect(none).toMatchObject({ code: 404, body: { kind: 'Status', reason: 'NotFound', details: { name: 'one' } } });
  });

  it.each([
    [{ count: 0 }, 'spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1'],
    [{ count: 'x' }, 'spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"'],
    [{}, 'spec.count: Required value'],
    [{ count: 1, word: 'NO' }, 'spec.word: Invalid value: "NO": spec.word in body should match \'^[a-z]*$\''],
    [{ count: 1, word: 'abcdefghijk' }, 'spec.word: Too long: may not be more than 10 bytes'],
    [{ count: 1, word: 'forbidden' }, 'spec: Invalid value: word is forbidden'],
    [{ count: 1, choice: 'c' }, 'spec.choice: Unsupported value: "c": supported values: "a", "b"'],
    [{ count: 1, set: ['a', 'a'] }, 'spec.set[1]: Duplicate value: "a"'],
    [{ count: 1, labels: { x: 'bad' } }, 'spec.labels[x]: Invalid value: "bad": is bad'],
    [{ count: 1, amount: '3Gi' }, 'spec.amount: Invalid value: "3Gi": is too much'],
    [{ count: 1, some: {} }, '<nil>: Invalid value: "": "spec.some" must validate at least one schema (anyOf)'],
    [{ count: 1, some: {} }, 'spec.some.a: Required value'],
    [{ count: 1, either: {} }, '"spec.either" must validate one and only one schema (oneOf). Found none valid'],
    [{ count: 1, either: { a: 1, b: 1 } }, 'must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    [
      { count: 1, both: { a: 1 } },
      'spec.both.b: Required value, <nil>: Invalid value: "": "spec.both" must validate all',
    ],
    [{ count: 1, neither: { a: 1 } }, '<nil>: Invalid value: "": "spec.neither" must not validate the schema (not)'],
  ])('is rejected with a message that names the invalid field: %j', async (content, message) => {
    const { code, body } = await request('POST', things, { body: thing('wrong', content) });
    expect(code).toBe(422);
    expect(String(body['message'])).toContain(message);
  });

  it('is accepted if it matches anyOf, oneOf, allOf and not', async () => {
    const content = { count: 1, some: { a: 1, b: 1 }, either: { b: 1 }, both: { a: 1, b: 1 }, neither: { b: 1 } };
    expect((await request('POST', things, { body: thing('fitting', content) })).code).toBe(201);
  });

  it('is rejected if an update violates a transition rule (oldSelf)', async () => {
    await request('POST', things, { body: thing('shrinking', { count: 5 }) });
    const { body } = await request('PATCH', `${things}/shrinking`, {
      body: { spec: { count: 4 } },
      contentType: 'application/merge-patch+json',
    });
    expect(String(body['message'])).toContain('spec: Invalid value: count must not shrink');
  });

  it('is replaced only with a resourceVersion, and takes no strategic merge patch', async () => {
    expect((await request('PUT', `${things}/one`, { body: thing('one', { count: 4 }) })).code).toBe(422);
    expect(
      (await request('PATCH', `${things}/one`, { body: {}, contentType: 'application/strategic-merge-patch+json' }))
        .code,
    ).toBe(415);
  });

  it('is printed, scaled and explained by kubectl', async () => {
    expect(await until('kubectl finds the kind', () => kubectl('get th one'))).toMatch(
      /^NAME +COUNT +AGE\none +3 +\d+[sm]\w*\n$/,
    );
    await kubectl('scale thing one --replicas=6');
    expect(await done(request('GET', `${things}/one`))).toMatchObject({ spec: { count: 6 } });
    // The server publishes the schema of a new kind a moment after it serves the kind.
    expect(await until('the schema is published', () => kubectl('explain thing.spec.word'))).toMatch(
      /FIELD: word <string>/,
    );
    expect(await kubectl('get crd')).toContain(`things.${group}`);
    expect(
      await kubectl.refused('create -f -', { input: JSON.stringify(thing('strict', { count: 1, nope: 1 })) }),
    ).toContain('unknown field "spec.nope"');
  });

  it('watched from an expired resourceVersion gets 410 Gone', async () => {
    const events = await watchEvents(`${things}?watch=true&resourceVersion=1&timeoutSeconds=100`, 1);
    expect(events[0]).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  });

  it('is discovered in alphabetical order of API groups, not in order of creation', async () => {
    const groups = [`zz.${group}`, `aa.${group}`];
    for (const of of groups) {
      const twin = {
        ...definition,
        metadata: { name: `twins.${of}` },
        spec: { ...definition.spec, group: of, names: { plural: 'twins', kind: 'Twin' } },
      };
      await done(create(twin));
    }
    try {
      const ours = await until('both groups are listed', async () => {
        const { groups: listed } = (await done(request('GET', '/apis'))) as { groups: { name: string }[] };
        const found = listed.map(({ name }) => name).filter((name) => groups.includes(name));
        return found.length === groups.length ? found : undefined;
      });
      expect(ours).toEqual(groups.toReversed());
    } finally {
      for (const of of groups) await removed(`twins.${of}`);
    }
  });

  it('is served no more after its CustomResourceDefinition is deleted', async () => {
    const other = {
      ...definition,
      metadata: { name: `others.${group}` },
      spec: { ...definition.spec, names: { plural: 'others', kind: 'Other' } },
    };
    await done(create(other));
    const path = `/apis/${group}/v1/namespaces/${namespace}/others`;
    await served(path);
    await removed(`others.${group}`);
    await until(
      'the custom resource is served no more',
      async () => (await request('GET', path)).code === 404 || undefined,
    );
  });
});
