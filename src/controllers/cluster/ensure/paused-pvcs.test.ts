import { describe, expect, it } from 'vitest';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { clusterReconciler } from '../reconcile.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const otherOwner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'notes', uid: 'n' };

/** Returns the changes of a pass over a paused cluster to a PVC that the cluster and another object own. */
async function changedWhilePaused(volumeClaimPolicy: string, annotations: Readonly<Record<string, string>> = {}) {
  const object = {
    ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster', metadata: { ...metadata, annotations } },
    spec: { replicas: 1, version: '3.5.35', paused: true, storage: { volumeClaimPolicy } },
    status: { bootstrap: { members: ['db-0'], token: 't' }, clusterId: 'c1' },
  };
  const read = improbable.read(object);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const ownerReferences = [read.value.blueprint.owner, otherOwner];
  const claim = { metadata: { ...metadata, name: 'db-0', uid: 'claim', ownerReferences } };
  const changed: unknown[] = [];
  const patch = async ({ kind }: { kind: string }, at: { name: string }, { body }: { body: object }) => {
    if (kind === 'PersistentVolumeClaim') changed.push([at.name, body]);
  };
  const none = { by: () => [], get: () => undefined };
  const claims = { by: (index: string) => (index === 'owner' ? [claim] : []), get: () => undefined };
  const context = {
    ...{
      dialect: improbable,
      isOurs: () => true,
      caughtUp: () => true,
      secondsSinceStatusWrite: () => 99,
      writer: () => ({ patch }),
    },
    caches: { clusters: { get: () => object }, pods: none, claims, services: none, budgets: undefined },
    ...{ now: () => new Date(0), randomName: String, recordEvent: () => undefined, log: () => undefined },
    etcd: { keepOnly: () => {} },
    ...{ absentSecrets: new Map(), mayWriteSecrets: false, mayDeleteSecrets: false, resource: { kind: 'EtcdCluster' } },
  };
  await clusterReconciler(context as unknown as ControllerContext)('default/db', new AbortController().signal);
  return changed;
}

describe('the PVCs of a paused cluster', () => {
  it('lose the ownerReference with policy Retain', async () => {
    const body = { metadata: { uid: 'claim', resourceVersion: '1', ownerReferences: [otherOwner] } };
    expect(await changedWhilePaused('Retain')).toEqual([['db-0', body]]);
  });

  it('are not changed with policy Delete', async () => {
    expect(await changedWhilePaused('Delete')).toEqual([]);
  });

  it('are not changed during a restore', async () => {
    expect(await changedWhilePaused('Retain', { 'etcd.improbable.io/restoring': 'uid-of-restore' })).toEqual([]);
  });
});
