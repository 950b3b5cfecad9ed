import { describe, expect, it } from 'vitest';
import { configMap, contract, type Json } from './support.ts';

const { request, namespace } = contract('refusals');
const core = `/api/v1/namespaces/${namespace}`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
const merge = 'application/merge-patch+json';
const json = 'application/json-patch+json';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'busybox' }] } };
const deployment = (name: string, spec: Json = {}): Json => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
  spec: { selector: { matchLabels: { a: 'b' } }, template, replicas: 0, ...spec },
});
const secret = (content: Json): Json => ({ metadata: { name: 'wrong' }, ...content });
const keyMessage = 'a valid config key must consist of';

describe('a new object', () => {
  it.each([
    ['not base64', 3],
    ['YQ', 0],
    ['YQ=', 3],
    ['YQ==YQ==', 4],
  ])('of kind Secret is rejected if its data is invalid base64: %s', async (k, position) => {
    const { body } = await request('POST', `${core}/secrets`, { body: secret({ data: { k } }) });
    const message = `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${position}`;
    expect(body).toMatchObject({ code: 400, message });
  });

  it.each<[string, Json, string]>([
    ['secrets', secret({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': '' } }), 'data[tls.key]: Required value'],
    ['secrets', secret({ type: 'kubernetes.io/basic-auth' }), '[data[username]: Required value, data[password]'],
    ['secrets', secret({ stringData: { 'a/b': '' } }), `data[a/b]: Invalid value: "a/b": ${keyMessage}`],
    ['configmaps', configMap('wrong', { data: { 'a b': '' } }), `data[a b]: Invalid value: "a b": ${keyMessage}`],
    ['configmaps', configMap('wrong', { data: { '..': '' } }), `data[..]: Invalid value: "..": must not be '..'`],
    ['configmaps', configMap('wrong', { data: { '../up': '' } }), `"../up": must not start with '..'`],
    ['configmaps', configMap('wrong', { data: { ['a'.repeat(254)]: '' } }), 'must be no more than 253 characters'],
    ['configmaps', { metadata: { name: 'w' }, data: { x: '' }, binaryData: { x: '' } }, 'duplicate of key present'],
    ['configmaps', configMap('wrong', { metadata: { finalizers: ['mine'] } }), 'finalizers[0]: Invalid value: "mine"'],
    ['configmaps', configMap('wrong', { metadata: { finalizers: ['a/-'] } }), 'Invalid value: "a/-": name part must'],
    ['services', { metadata: { name: 'a.b' }, spec: { ports: [{ port: 1 }] } }, '"a.b": must not contain dots'],
    ['services', { metadata: { name: 'a'.repeat(64) }, spec: { ports: [{ port: 1 }] } }, 'no more than 63 characters'],
    ['services', { metadata: { name: 'x' }, spec: { type: 'ExternalName' } }, 'spec.externalName: Required value'],
  ])('of %s with an invalid field is rejected: %j', async (plural, body, message) => {
    const answer = await request('POST', `${core}/${plural}`, { body });
    expect(answer.body).toMatchObject({ code: 422, message: expect.stringContaining(message) });
  });

  it('of kind ConfigMap may have keys such as ca.crt and .hidden', async () => {
    const body = configMap('right', { data: { 'ca.crt': '', '.hidden': '' } });
    expect((await request('POST', `${core}/configmaps`, { body })).code).toBe(201);
  });

  it('has U+FFFD where a text has half a surrogate pair, whatever writes it', async () => {
    const path = `${core}/configmaps/halves`;
    const created = await request('POST', `${core}/configmaps`, {
      body: configMap('halves', { data: { made: 'a\ud83d', whole: '😀' } }),
    });
    expect(created.body).toMatchObject({ data: { made: 'a\ufffd', whole: '😀' } });
    const operation = [{ op: 'add', path: '/data/byJsonPatch', value: '\ude00b' }];
    await request('PATCH', path, { body: operation, contentType: json });
    await request('PATCH', path, { body: { data: { byMergePatch: '\ud83d\ud83d' } }, contentType: merge });
    const { body } = await request('GET', path);
    expect(body['data']).toEqual({
      ...{ made: 'a\ufffd', whole: '😀' },
      ...{ byJsonPatch: '\ufffdb', byMergePatch: '\ufffd\ufffd' },
    });
  });

  it('is not applied with an escaped surrogate: an applied configuration is YAML', async () => {
    const applied = (value: string) =>
      request('PATCH', `${core}/configmaps/applied?fieldManager=test`, {
        body: configMap('applied', { data: { value } }),
        contentType: 'application/apply-patch+yaml',
      });
    expect((await applied('\ud83d')).body).toMatchObject({
      code: 400,
      message: expect.stringContaining('found invalid Unicode character escape code'),
    });
    expect((await applied('😀')).body).toMatchObject({ data: { value: '😀' } });
  });

  it('with a negative count is rejected', async () => {
    const message = 'must be greater than or equal to 0';
    const wrong = await request('POST', deployments, {
      body: deployment('wrong', { replicas: -1, minReadySeconds: -1 }),
    });
    expect(wrong.body).toMatchObject({
      code: 422,
      message: `Deployment.apps "wrong" is invalid: [spec.replicas: Invalid value: -1: ${message}, spec.minReadySeconds: Invalid value: -1: ${message}]`,
    });
    const late = await request('POST', deployments, { body: deployment('late', { progressDeadlineSeconds: 0 }) });
    expect(String(late.body['message'])).toContain('must be greater than minReadySeconds');
    const job = {
      metadata: { name: 'wrong' },
      spec: { backoffLimit: -1, template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
    };
    const { body } = await request('POST', `/apis/batch/v1/namespaces/${namespace}/jobs`, { body: job });
    expect(body).toMatchObject({ code: 422, message: expect.stringContaining('spec.backoffLimit: Invalid value: -1') });
  });

  it.each<[Json, string]>([
    [{ minAvailable: 1, maxUnavailable: 1 }, 'minAvailable and maxUnavailable cannot be both set'],
    [{ minAvailable: -1 }, 'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0'],
    [{ minAvailable: '10' }, 'spec.minAvailable: Invalid value: "10": a valid percent string must be'],
    [{ maxUnavailable: '110%' }, 'spec.maxUnavailable: Invalid value: "110%": must not be greater than 100%'],
    [{ unhealthyPodEvictionPolicy: 'x' }, 'Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ])('of kind PodDisruptionBudget with inconsistent fields is rejected: %j', async (spec, message) => {
    const { body } = await request('POST', budgets, { body: { metadata: { name: 'wrong' }, spec } });
    expect(body).toMatchObject({ code: 422, message: expect.stringContaining(message) });
  });
});

describe('an update', () => {
  it('is rejected if its name, namespace or UID differs from the object of the path', async () => {
    const path = `${core}/configmaps/one`;
    await request('POST', `${core}/configmaps`, { body: configMap('one') });
    const elsewhere = {
      code: 400,
      message: expect.stringContaining('does not match the namespace sent on the request'),
    };
    const another = { code: 400, message: 'the name of the object (two) does not match the name on the URL (one)' };
    const nameless = { code: 400, message: expect.stringContaining('was undeterminable: name must be provided') };
    const patched = async (body: object, contentType = merge): Promise<Json> =>
      (await request('PATCH', path, { body, contentType })).body;
    const put = async (metadata: Json): Promise<Json> =>
      (await request('PUT', path, { body: { ...configMap('one'), metadata } })).body;
    for (const way of [merge, 'application/strategic-merge-patch+json'])
      expect(await patched({ metadata: { name: 'two' } }, way)).toMatchObject(another);
    expect(await patched([{ op: 'replace', path: '/metadata/name', value: 'two' }], json)).toMatchObject(another);
    expect(await patched({ metadata: { name: null } })).toMatchObject(nameless);
    expect(await patched({ metadata: { namespace: 'default' } })).toMatchObject(elsewhere);
    expect(await patched({ metadata: { uid: 'other' } })).toMatchObject({
      code: 422,
      message: 'ConfigMap "one" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    });
    expect(await put({ name: 'one', namespace: 'default' })).toMatchObject(elsewhere);
    expect(await put({ name: 'two' })).toMatchObject(another);
    expect(await put({})).toMatchObject(nameless);
    expect(await put({ name: 'one', uid: 'other' })).toMatchObject({ code: 409 });
  });

  it('cannot change the type of a Secret or remove a key that the type requires', async () => {
    const body = { metadata: { name: 't' }, type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'c', 'tls.key': 'k' } };
    expect((await request('POST', `${core}/secrets`, { body })).code).toBe(201);
    const patched = async (change: Json): Promise<unknown> =>
      (await request('PATCH', `${core}/secrets/t`, { body: change, contentType: merge })).body['message'];
    expect(await patched({ type: 'Opaque' })).toContain('type: Invalid value: "Opaque": field is immutable');
    expect(await patched({ data: { 'tls.key': null } })).toContain('data[tls.key]: Required value');
  });

  it('of the scale subresource works with every patch type and rejects negative replicas', async () => {
    await request('POST', deployments, { body: deployment('scaled') });
    const path = `${deployments}/scaled/scale`;
    const patched = (body: object, contentType: string) => request('PATCH', path, { body, contentType });
    const ways = [
      [json, 2, [{ op: 'replace', path: '/spec/replicas', value: 2 }]],
      [merge, 3, { spec: { replicas: 3 } }],
      ['application/strategic-merge-patch+json', 0, { spec: { replicas: 0 } }],
    ] as const;
    for (const [way, replicas, body] of ways) {
      expect((await patched(body, way)).body).toMatchObject({ kind: 'Scale' });
      expect((await request('GET', `${deployments}/scaled`)).body).toMatchObject({ spec: { replicas } });
    }
    expect((await patched({ spec: { replicas: -2 } }, merge)).body).toMatchObject({
      code: 422,
      message:
        'Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -2: must be greater than or equal to 0',
    });
    const other = await request('PUT', path, { body: { metadata: { name: 'other' }, spec: { replicas: 1 } } });
    expect(other.code).toBe(400);
    const negative = await request('PATCH', `${deployments}/scaled`, {
      body: { spec: { replicas: -1 } },
      contentType: merge,
    });
    expect(negative.code).toBe(422);
  });

  it('with an invalid dryRun value is rejected', async () => {
    const message = 'dryRun: Unsupported value: ["Some"]: supported values: "All"';
    const { body } = await request('POST', `${core}/configmaps?dryRun=Some`, { body: configMap('dry') });
    expect(body).toMatchObject({ code: 422, message: `CreateOptions.meta.k8s.io "" is invalid: ${message}` });
  });
});
