import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { clusterWide, customResourceDefinitions } from '../../kube/resource.ts';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { deployments } from '../../lab/kinds.ts';
import { type Dialect, definitionOf, etcdClusters } from './dialects.ts';
import { createFirstCluster } from './first-cluster.ts';
import { servedBy, servesAllNamespaces } from './manifests.ts';
import { ownControlPlane } from './own-control-plane.ts';

let state: string;
let plane: ControlPlane;
const said: string[] = [];
const say = (line: string): void => void said.push(line);

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'first-cluster-'));
  plane = await ownControlPlane(state, say);
});
afterEach(async () => {
  await plane.run(AbortSignal.abort());
  rmSync(state, { recursive: true });
});

const etcd = { version: '3.6.16', directory: '/programs', from: 'a test' };

it('has an operator that was there before serve further APIs beside those that it served', async () => {
  const { client } = plane;
  const create = (dialects: readonly Dialect[]) =>
    createFirstCluster({ client, namespace: 'default', etcd, dialects, say });
  const served = async () => servedBy(await client.get(deployments, { namespace: 'default', name: 'etcd-operator' }));

  expect((await create(['improbable'])).metadata).toMatchObject({ name: 'my-etcd', namespace: 'default' });
  expect(await served()).toEqual(['improbable']);
  await create(['coreos']);
  expect(await served()).toEqual(['improbable', 'coreos']);
  await create(['coreos']);
  expect(await served()).toEqual(['improbable', 'coreos']);
  const found = await Promise.all([client.list(etcdClusters.coreos), client.list(etcdClusters.improbable)]);
  expect(found.flatMap(({ items }) => items.map(({ spec }) => spec?.version))).toEqual(['3.6.16', '3.6.16']);
  expect(said).toEqual([
    'Created the operator and my-etcd, with etcd 3.6.16 from a test.',
    'The operator, which served improbable, now serves improbable,coreos.',
    'Created example-etcd-cluster, with etcd 3.6.16 from a test.',
    'example-etcd-cluster was here before: it goes on as it is.',
  ]);
});

it('has an operator of an earlier version, which served one namespace, serve all', async () => {
  const { client } = plane;
  const create = () => createFirstCluster({ client, namespace: 'default', etcd, dialects: ['coreos'], say });
  const at = { namespace: 'default', name: 'etcd-operator' };
  await create();
  const path = '/spec/template/spec/containers/0/command/2';
  await client.patch(deployments, at, { type: 'json', body: [{ op: 'remove', path }] });
  expect(servesAllNamespaces(await client.get(deployments, at))).toBe(false);
  await create();
  expect(servesAllNamespaces(await client.get(deployments, at))).toBe(true);
});

it('gives an operator of another version the rights and definitions of this one', async () => {
  const { client } = plane;
  const create = () => createFirstCluster({ client, namespace: 'default', etcd, dialects: ['coreos'], say });
  const role = clusterWide<KubeObject & { readonly rules?: readonly object[] }>({
    ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', kind: 'ClusterRole' },
  });
  const atRole = { name: 'etcd-operator-role' };
  const atDefinition = { name: definitionOf('coreos') };
  await create();
  const before = [await client.get(role, atRole), await client.get(customResourceDefinitions, atDefinition)];
  await create();
  expect([await client.get(role, atRole), await client.get(customResourceDefinitions, atDefinition)]).toEqual(before);

  await client.patch(role, atRole, { type: 'merge', body: { rules: [] } });
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size';
  await client.patch(customResourceDefinitions, atDefinition, { type: 'json', body: [{ op: 'remove', path }] });
  await create();
  const after = [await client.get(role, atRole), await client.get(customResourceDefinitions, atDefinition)];
  expect(after.map(contentOf)).toEqual(before.map(contentOf));
});

const contentOf = (object: KubeObject): object => ({ ...object, metadata: undefined, status: undefined });
