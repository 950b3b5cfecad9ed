import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { Failure } from '../../std/failure.ts';
import { keepClaims } from './keep-claims.ts';
import { clusterReconciler } from './reconcile.ts';
import type { Tools } from './sources.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const somebody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'notes', uid: 'n' };

/** What a pass over a paused cluster changes on a claim that is owned by the cluster and by somebody else. */
async function changedWhilePaused(volumeClaimPolicy: string, annotations: Readonly<Record<string, string>> = {}) {
  const object = {
    ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster', metadata: { ...metadata, annotations } },
    spec: { replicas: 1, version: '3.5.35', paused: true, storage: { volumeClaimPolicy } },
    status: { bootstrap: { members: ['db-0'], token: 't' }, clusterId: 'c1' },
  };
  const read = improbable.read(object);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const ownerReferences = [read.value.blueprint.owner, somebody];
  const claim = { metadata: { ...metadata, name: 'db-0', uid: 'claim', ownerReferences } };
  const changed: unknown[] = [];
  const patch = async ({ kind }: { kind: string }, at: { name: string }, { body }: { body: object }) => {
    if (kind === 'PersistentVolumeClaim') changed.push([at.name, body]);
  };
  const none = { by: () => [], get: () => undefined };
  const claims = { by: (index: string) => (index === 'owner' ? [claim] : []), get: () => undefined };
  const tools = {
    ...{ dialect: improbable, isOurs: () => true, caughtUp: () => true, toldAgo: () => 99, writer: () => ({ patch }) },
    caches: { clusters: { get: () => object }, pods: none, claims, services: none, budgets: undefined },
    ...{ now: () => new Date(0), randomName: String, tell: () => undefined, log: () => undefined },
    etcd: { keepOnly: () => {} },
    ...{ tidied: new Map(), keepsSecrets: false, dropsSecrets: false, resource: { kind: 'EtcdCluster' } },
  };
  await clusterReconciler(tools as unknown as Tools)('default/db', new AbortController().signal);
  return changed;
}

/** Which claims are written, and with what it ends, where writing the first is refused. */
async function keptDespiteRefusal() {
  const read = improbable.read({ metadata, spec: { replicas: 2, version: '3.5.35' } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  const ownerReferences = [blueprint.owner, somebody];
  const claims = ['db-0', 'db-1'].map((name) => ({ metadata: { ...metadata, name, uid: name, ownerReferences } }));
  const written: string[] = [];
  const patch = async (_: unknown, { name }: { name: string }) => {
    if (name === 'db-0') throw new Failure('forbidden', 'a policy says no');
    written.push(name);
  };
  const caches = { claims: { by: (index: string) => (index === 'owner' ? claims : []) } };
  const keeping = { caches, writer: { patch } } as unknown as Parameters<typeof keepClaims>[2];
  const failure = await keepClaims(blueprint, healthy(2), keeping).catch((thrown: Error) => thrown.message);
  return { written, failure };
}

it('PVCs are kept although one of them cannot be written', async () =>
  expect(await keptDespiteRefusal()).toEqual({ written: ['db-1'], failure: 'a policy says no' }));

describe('the disks of a cluster that is paused', () => {
  it('are let go of where the spec says that they stay, for it may be deleted', async () => {
    const body = { metadata: { uid: 'claim', resourceVersion: '1', ownerReferences: [somebody] } };
    expect(await changedWhilePaused('Retain')).toEqual([['db-0', body]]);
  });

  it('do not become its own where they are to go with it: somebody may have taken them from it by hand', async () => {
    expect(await changedWhilePaused('Delete')).toEqual([]);
  });

  it('are left to a restore, if one has asked for the pause', async () => {
    expect(await changedWhilePaused('Retain', { 'etcd.improbable.io/restoring': 'uid-of-restore' })).toEqual([]);
  });
});
