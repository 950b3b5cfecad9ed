import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { configMap, contract, done, type Json } from './support.ts';

const { kubectl, request, patch, namespace } = contract('deletion');
const maps = `/api/v1/namespaces/${namespace}/configmaps`;

async function owned(name: string, owner: string): Promise<void> {
  const { body } = await request('GET', `${maps}/${owner}`);
  const reference = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: owner,
    uid: (body['metadata'] as Json)['uid'],
    blockOwnerDeletion: true,
  };
  await request('POST', maps, { body: configMap(name, { metadata: { ownerReferences: [reference] } }) });
}

const exists = async (name: string): Promise<boolean> => (await request('GET', `${maps}/${name}`)).code === 200;
const gone = (name: string): Promise<unknown> =>
  until(`${name} is gone`, async () => !(await exists(name)) || undefined);

describe('a deletion', () => {
  it('waits until all finalizers are removed', async () => {
    await request('POST', maps, { body: configMap('held', { metadata: { finalizers: ['example.com/hold'] } }) });
    await request('DELETE', `${maps}/held`);
    expect((await request('GET', `${maps}/held`)).body).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String), finalizers: ['example.com/hold'] },
    });
    await done(patch(`${maps}/held`, { metadata: { finalizers: null } }));
    expect(await exists('held')).toBe(false);
  });

  it('rejects new finalizers once deletionTimestamp is set', async () => {
    const hold = (...finalizers: readonly string[]) =>
      request('PATCH', `${maps}/going`, {
        body: { metadata: { finalizers } },
        contentType: 'application/merge-patch+json',
      });
    await request('POST', maps, { body: configMap('going', { metadata: { finalizers: ['a.io/a', 'b.io/b'] } }) });
    await request('DELETE', `${maps}/going`);
    expect((await hold('a.io/a', 'c.io/c')).body).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c.io/c"}',
      ),
    });
    expect((await hold('a.io/a')).code).toBe(200);
    await hold();
    expect(await exists('going')).toBe(false);
  });

  it('of a built-in namespace is forbidden', async () => {
    for (const name of ['default', 'kube-system', 'kube-public'])
      expect((await request('DELETE', `/api/v1/namespaces/${name}`)).body).toMatchObject({
        code: 403,
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      });
  });

  it('with invalid DeleteOptions is rejected', async () => {
    await request('POST', maps, { body: configMap('stays') });
    const refused = async (query: string, body?: Json): Promise<unknown> =>
      (await request('DELETE', `${maps}/stays${query}`, body && { body })).body['message'];
    const message =
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"';
    expect(await refused('?propagationPolicy=Some')).toBe(message);
    expect(await refused('', { propagationPolicy: 'Some' })).toBe(message);
    expect((await request('DELETE', `${maps}?propagationPolicy=Some`)).body['message']).toBe(message);
    expect(await refused('', { dryRun: ['Some'] })).toContain('dryRun: Unsupported value: ["Some"]');
    expect(await refused('?gracePeriodSeconds=x')).toBe('strconv.ParseInt: parsing "x": invalid syntax');
    expect(await exists('stays')).toBe(true);
  });

  it('handles dependents by propagationPolicy: Background, Foreground or Orphan', async () => {
    for (const owner of ['back', 'fore', 'leave']) {
      await request('POST', maps, { body: configMap(owner) });
      await owned(`${owner}-child`, owner);
    }
    await done(request('DELETE', `${maps}/back`, { body: { propagationPolicy: 'Background' } }));
    await gone('back-child');
    await kubectl('delete configmap fore --cascade=foreground');
    expect(await exists('fore-child')).toBe(false);
    await done(request('DELETE', `${maps}/leave`, { body: { propagationPolicy: 'Orphan' } }));
    await gone('leave');
    const { code, body } = await request('GET', `${maps}/leave-child`);
    expect(code).toBe(200);
    expect(body).not.toHaveProperty('metadata.ownerReferences');
  });

  it('of a scheduled pod leaves it Terminating until its node confirms, or until it is forced', async () => {
    const spec = { nodeName: 'ghost', terminationGracePeriodSeconds: 7, containers: [{ name: 'c', image: 'busybox' }] };
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    expect(
      (await request('POST', pods, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec } })).code,
    ).toBe(201);
    await request('DELETE', `${pods}/p`);
    expect((await request('GET', `${pods}/p`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 7 } });
    const { body } = await request('GET', `${pods}/p`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const [row] = body['rows'] as { cells: readonly unknown[] }[];
    expect(row?.cells.slice(0, 4)).toEqual(['p', '0/1', 'Terminating', '0']);
    await request('DELETE', `${pods}/p?gracePeriodSeconds=0`);
    expect((await request('GET', `${pods}/p`)).code).toBe(404);
  });

  it('of a collection by label selector is one request', async () => {
    for (const name of ['m1', 'm2'])
      await request('POST', maps, { body: configMap(name, { metadata: { labels: { many: '' } } }) });
    expect((await request('DELETE', `${maps}?labelSelector=many`)).code).toBe(200);
    expect(await exists('m1')).toBe(false);
    expect(await exists('m2')).toBe(false);
  });

  it('of a namespace deletes its objects first and admits no new ones', async () => {
    const name = `contract-short-${randomBytes(3).toString('hex')}`;
    const [path, held] = [`/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/configmaps/held`];
    await done(request('POST', '/api/v1/namespaces', { body: { metadata: { name } } }));
    const finalizers = ['example.com/hold'];
    await done(request('POST', `${path}/configmaps`, { body: configMap('held', { metadata: { finalizers } }) }));
    await done(request('DELETE', path));
    expect(await done(request('GET', path))).toMatchObject({ status: { phase: 'Terminating' } });
    const late = await request('POST', `${path}/configmaps`, { body: configMap('late') });
    expect(late.body).toMatchObject({ code: 403, message: expect.stringContaining('because it is being terminated') });
    await done(patch(held, { metadata: { finalizers: null } }));
    await until('the namespace is gone', async () => (await request('GET', path)).code === 404 || undefined);
  });
});

describe('an eviction', () => {
  it('is rejected with 429 if a PodDisruptionBudget allows no disruption', async () => {
    const labels = { app: 'budgeted' };
    const spec = { nodeName: 'ghost', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'busybox' }] };
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
    await request('POST', pods, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b', labels }, spec } });
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const merge = 'application/merge-patch+json';
    expect((await request('PATCH', `${pods}/b/status`, { body: { status: ready }, contentType: merge })).code).toBe(
      200,
    );
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'one' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    };
    await request('POST', budgets, { body: budget });
    const status = {
      observedGeneration: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
      disruptionsAllowed: 0,
      expectedPods: 1,
    };
    await request('PATCH', `${budgets}/one/status`, { body: { status }, contentType: merge });
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'b', namespace } };
    const refused = await request('POST', `${pods}/b/eviction`, { body: eviction });
    expect(refused.body).toMatchObject({
      code: 429,
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
    });
    await request('DELETE', `${budgets}/one`);
    expect((await request('POST', `${pods}/b/eviction`, { body: eviction })).code).toBe(201);
  });
});
