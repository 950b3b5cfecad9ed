import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/object.ts';
import { clusterWide, customResourceDefinitions } from '../../src/kube/resource.ts';
import type { ControlPlane } from '../control-plane.ts';
import { deployments } from '../kinds.ts';
import { type Dialect, definitionOf, etcdClusters } from './dialects.ts';
import { createFirstCluster } from './first-cluster.ts';
import { dialectsOf, servesAllNamespaces } from './manifests.ts';
import { ownControlPlane } from './own-control-plane.ts';

let state: string;
let plane: ControlPlane;
const printed: string[] = [];
const print = (line: string): void => void printed.push(line);

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'first-cluster-'));
  plane = await ownControlPlane(state, print);
});
afterEach(async () => {
  await plane.run(AbortSignal.abort());
  rmSync(state, { recursive: true });
});

const etcd = { version: '3.6.16', directory: '/programs', from: 'a test' };

it('an existing operator keeps its dialects and serves the requested ones too', async () => {
  const { client } = plane;
  const create = (dialects: readonly Dialect[]) =>
    createFirstCluster({ client, namespace: 'default', etcd, dialects, print });
  const served = async () => dialectsOf(await client.get(deployments, { namespace: 'default', name: 'etcd-operator' }));

  expect((await create(['improbable'])).metadata).toMatchObject({ name: 'my-etcd', namespace: 'default' });
  expect(await served()).toEqual(['improbable']);
  await create(['coreos']);
  expect(await served()).toEqual(['improbable', 'coreos']);
  await create(['coreos']);
  expect(await served()).toEqual(['improbable', 'coreos']);
  const found = await Promise.all([client.list(etcdClusters.coreos), client.list(etcdClusters.improbable)]);
  expect(found.flatMap(({ items }) => items.map(({ spec }) => spec?.version))).toEqual(['3.6.16', '3.6.16']);
  expect(printed).toEqual([
    'Created the operator and my-etcd, with etcd 3.6.16 from a test.',
    'The operator now serves improbable,coreos (before: improbable).',
    'Created example-etcd-cluster, with etcd 3.6.16 from a test.',
    'example-etcd-cluster exists already and is not changed.',
  ]);
});

it('an existing operator for one namespace is changed to serve all', async () => {
  const { client } = plane;
  const create = () => createFirstCluster({ client, namespace: 'default', etcd, dialects: ['coreos'], print });
  const at = { namespace: 'default', name: 'etcd-operator' };
  await create();
  const path = '/spec/template/spec/containers/0/command/2';
  await client.patch(deployments, at, { type: 'json', body: [{ op: 'remove', path }] });
  expect(servesAllNamespaces(await client.get(deployments, at))).toBe(false);
  await create();
  expect(servesAllNamespaces(await client.get(deployments, at))).toBe(true);
});

it('an existing operator gets the ClusterRole and definitions of this version', async () => {
  const { client } = plane;
  const create = () => createFirstCluster({ client, namespace: 'default', etcd, dialects: ['coreos'], print });
  const role = clusterWide<KubeObject & { readonly rules?: readonly object[] }>({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterroles',
    kind: 'ClusterRole',
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
