import { describe, expect, it } from 'vitest';
import { improbableRestores } from '../../../apis/improbable-v1alpha1/backup/restore.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { RestoreStep } from '../../../core/restore/step.ts';
import { Failure } from '../../../std/failure.ts';
import { madeByAnnotation } from '../pods-and-pvcs.ts';
import { performRestore } from './perform.ts';

const claimTemplate = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const storage = { volumeClaimTemplate: claimTemplate, volumeClaimPolicy: 'Delete' };
const clusterSpec = { replicas: 3, version: '3.6.16', storage };
const cluster = {
  ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster', spec: clusterSpec },
  metadata: { name: 'db', namespace: 'n', uid: 'c', resourceVersion: '7', creationTimestamp: '' },
};
const ofRestore = { [madeByAnnotation(improbableRestores)]: 'r' };

function restoreWith(clusterTemplate: object) {
  const object = {
    ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdRestore' },
    metadata: {
      name: 'again',
      namespace: 'n',
      uid: 'r',
      resourceVersion: '3',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { source: { objectURL: 's3://bucket/db', credentialsSecret: 'aws' }, clusterTemplate },
  };
  const read = improbableRestores.read(object);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return { object, read: read.value };
}

const target = improbable.read(cluster);
if (!target.ok) throw new Error(JSON.stringify(target.problems));

/** Performs a step while the API server has these objects, by plural. Returns the writes. */
async function writesOf(
  step: RestoreStep,
  there: Readonly<Record<string, object>> = {},
  clusterTemplate: object = { clusterName: 'db', spec: clusterSpec },
) {
  const writes: (readonly [string, object])[] = [];
  const get = async ({ plural }: { plural: string }): Promise<object> => {
    const metadata = there[plural];
    if (metadata === undefined) throw new Failure('not-found', 'no');
    return { metadata };
  };
  const writer = {
    create: async ({ plural }: { plural: string }, object: object) => void writes.push([plural, object]),
    patch: async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) =>
      void writes.push([plural, body]),
    remove: async (
      { plural }: { plural: string },
      { name }: { name: string },
      { preconditions }: { preconditions: object },
    ) => void writes.push([plural, { name, ...preconditions }]),
  };
  const controller = {
    ...{ dialect: improbableRestores, resource: { plural: 'etcdrestores' }, client: { get }, image: { name: 'agent' } },
    clusters: { dialect: improbable, resource: { plural: 'etcdclusters' } },
    now: () => new Date(0),
  };
  const { object, read } = restoreWith(clusterTemplate);
  const into = { object: cluster, spec: cluster.spec, read: target.ok ? target.value : undefined };
  await performRestore(step, { object, read, target: into, controller, writer } as never);
  return writes;
}

const seed = { name: 'db-0', uid: 'pod' } as never;
const ownClaim = { persistentvolumeclaims: { name: 'db-0', uid: 'claim', annotations: ofRestore } };

describe('a step of a restore', () => {
  it('pauses the cluster only at the version that was read', async () => {
    const annotations = { [improbableRestores.holdAnnotation]: 'r' };
    expect(await writesOf({ kind: 'hold-cluster' })).toEqual([
      ['etcdclusters', { metadata: { uid: 'c', resourceVersion: '7', annotations } }],
    ]);
  });

  it('adds its finalizer only at the version that was read', async () => {
    const metadata = { uid: 'r', resourceVersion: '3', finalizers: [expect.any(String)] };
    expect(await writesOf({ kind: 'pin' })).toEqual([['etcdrestores', { metadata }]]);
  });

  it('sets PVCs of old members aside: the restore owns them, and the cluster does not use them', async () => {
    const metadata = {
      uid: 'old',
      labels: expect.objectContaining({ 'etcd.improbable.io/peer-name': null }),
      ownerReferences: [expect.objectContaining({ kind: 'EtcdRestore', uid: 'r' })],
    };
    const writes = await writesOf({ kind: 'set-aside', claims: [{ name: 'db-1', uid: 'old' }] });
    expect(writes).toEqual([['persistentvolumeclaims', { metadata }]]);
  });

  it('gives PVCs of old members back as PVCs of removed members', async () => {
    const writes = await writesOf({ kind: 'keep-old-data', claims: [{ name: 'db-1', uid: 'old' }] });
    const annotations = expect.objectContaining({ 'etcd.improbable.io/removed-at': '1970-01-01T00:00:00Z' });
    const owner = expect.objectContaining({ kind: 'EtcdCluster', uid: 'c' });
    expect(writes).toMatchObject([
      ['persistentvolumeclaims', { metadata: { uid: 'old', annotations, ownerReferences: [owner] } }],
    ]);
  });
});

describe('the seed of a restore', () => {
  const start = { kind: 'start-seed', name: 'db-0' } as const;

  it('has a token of its own, so that no member of another restore can join', async () => {
    const writes = await writesOf(start, ownClaim);
    expect(writes.map(([plural]) => plural)).toEqual(['persistentvolumeclaims', 'pods']);
    expect(JSON.stringify(writes)).toContain('--initial-cluster-token=n.db.r"');
  });

  it('is not created on a PVC that is being deleted', async () => {
    const leaving = { ...ownClaim.persistentvolumeclaims, deletionTimestamp: '2026-01-01T00:00:00Z' };
    await expect(writesOf(start, { persistentvolumeclaims: leaving })).rejects.toThrow('still terminating');
  });

  it('needs the manifest of its backup if the new cluster gets the spec in it', async () => {
    const saved = await writesOf(start, ownClaim, { clusterName: 'db', fromBackup: true });
    expect(JSON.stringify(saved)).toContain('"--require-manifest"');
    expect(JSON.stringify(await writesOf(start, ownClaim))).not.toContain('"--require-manifest"');
  });

  it('is handed over with its PVC, and not without', async () => {
    const handOver = { kind: 'hand-over', seed } as const;
    expect((await writesOf(handOver, ownClaim)).map(([plural]) => plural)).toEqual(['persistentvolumeclaims', 'pods']);
    await expect(writesOf(handOver)).rejects.toMatchObject({ kind: 'conflict' });
    const foreign = { persistentvolumeclaims: { name: 'db-0', uid: 'another' } };
    await expect(writesOf(handOver, foreign)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('is deleted with its PVC, and objects of a member with the same name are not', async () => {
    const discard = { kind: 'discard-seed', name: 'db-0' } as const;
    const own = { ...ownClaim, pods: { name: 'db-0', uid: 'pod', annotations: ofRestore } };
    expect(await writesOf(discard, own)).toEqual([
      ['persistentvolumeclaims', { name: 'db-0', uid: 'claim' }],
      ['pods', { name: 'db-0', uid: 'pod' }],
    ]);
    expect(await writesOf(discard, { pods: { name: 'db-0', uid: 'member' } })).toEqual([]);
  });
});
