import { expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { aWorld } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { templateAnnotation } from '../../../core/manifests/pod.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { ensureLabels, type LabelContext } from './labels.ts';

const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 1, version: '3.5.35' },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const all = { app: 'etcd', etcd_cluster: 'db', etcd_node: 'db-0' };
const volumes = [{ name: 'etcd-data', persistentVolumeClaim: { claimName: 'db-0' } }];
const ours = {
  ownerReferences: [blueprint.owner],
  annotations: { [templateAnnotation(blueprint.naming)]: 'made by us' },
  labels: all,
};

/** Returns the patches and Events for a member with this pod and this PVC. `seen`: the cache shows the PVC. */
async function kept(pod: Partial<ObjectMeta>, volume?: Partial<ObjectMeta>, isSeen?: 'seen') {
  const patched: object[] = [];
  const events: string[] = [];
  const { metadata } = samplePod('db-0', 1, { ...ours, ...pod });
  const spec = volume === undefined ? {} : { spec: { volumes } };
  const own = { name: 'db-0', namespace: 'default', uid: 'pvc', ownerReferences: [blueprint.owner] };
  const claim = { metadata: { ...own, ...volume } };
  const caches = {
    clusters: { get: () => ({}) },
    pods: { by: () => [{ metadata, ...spec }] },
    claims: { by: () => (isSeen ? [claim] : []) },
  };
  const get = async () => {
    if (volume === undefined) throw new Failure('not-found', 'no');
    return claim;
  };
  const patch = async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) =>
    void patched.push([plural, body]);
  const recordEvent = (_: unknown, { reason }: { reason: string }) => void events.push(reason);
  const controller = { caches, recordEvent, client: { get } };
  const context = { blueprint, observed: { world: aWorld() }, controller, writer: { patch } };
  await ensureLabels(context as unknown as LabelContext);
  return { patched, events };
}

it('a pod gets the labels of its Services back', async () => {
  const { patched, events } = await kept({ labels: { app: 'etcd', etcd_node: 'another' } });
  const labels = { etcd_cluster: 'db', etcd_node: 'db-0' };
  expect(patched).toEqual([['pods', { metadata: { uid: 'uid-of-db-0', labels } }]]);
  expect(events).toEqual(['LabelsLost']);
});

it('a PVC that no cache shows gets its label back', async () => {
  const { patched, events } = await kept({}, { labels: { etcd_cluster: 'db', etcd_node: 'db-0' } });
  expect(patched).toEqual([['persistentvolumeclaims', { metadata: { uid: 'pvc', labels: { app: 'etcd' } } }]]);
  expect(events).toEqual(['LabelsLost']);
});

it('a cached PVC gets its cluster label back', async () => {
  const { patched } = await kept({}, { labels: { app: 'etcd', etcd_node: 'db-0' } }, 'seen');
  expect(patched).toEqual([['persistentvolumeclaims', { metadata: { uid: 'pvc', labels: { etcd_cluster: 'db' } } }]]);
});

it.each([
  ['has all of them', {}],
  ['is being deleted', { labels: {}, deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['is not adopted', { labels: {}, annotations: {} }],
])('a pod is not changed if it %s', async (_, pod) => {
  expect(await kept(pod)).toEqual({ patched: [], events: [] });
});

it('a PVC of another owner is not changed', async () => {
  const ownerReferences = [{ ...blueprint.owner, uid: 'another' }];
  expect(await kept({}, { labels: {}, ownerReferences })).toEqual({ patched: [], events: [] });
});
