import { expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { aWorld } from '../../../test/support/worlds.ts';
import { templateAnnotation } from '../../core/desired/pod.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { type Asking, keepLabels } from './lost-labels.ts';

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

/** What is patched where a member has such a pod, and such a disk, which copies show or not. */
async function kept(pod: Partial<ObjectMeta>, disk?: Partial<ObjectMeta>, isSeen?: 'seen') {
  const patched: object[] = [];
  const told: string[] = [];
  const { metadata } = samplePod('db-0', 1, { ...ours, ...pod });
  const spec = disk === undefined ? {} : { spec: { volumes } };
  const own = { name: 'db-0', namespace: 'default', uid: 'disk', ownerReferences: [blueprint.owner] };
  const claim = { metadata: { ...own, ...disk } };
  const caches = {
    clusters: { get: () => ({}) },
    pods: { by: () => [{ metadata, ...spec }] },
    claims: { by: () => (isSeen ? [claim] : []) },
  };
  const get = async () => {
    if (disk === undefined) throw new Failure('not-found', 'no');
    return claim;
  };
  const patch = async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) =>
    void patched.push([plural, body]);
  const tell = (_: unknown, { reason }: { reason: string }) => void told.push(reason);
  const tools = { caches, tell, client: { get } };
  const asking = { blueprint, observed: { world: aWorld() }, tools, writer: { patch } };
  await keepLabels(asking as unknown as Asking);
  return { patched, told };
}

it('gives a pod back the labels by which Services find it', async () => {
  const { patched, told } = await kept({ labels: { app: 'etcd', etcd_node: 'another' } });
  const labels = { etcd_cluster: 'db', etcd_node: 'db-0' };
  expect(patched).toEqual([['pods', { metadata: { uid: 'uid-of-db-0', labels } }]]);
  expect(told).toEqual(['LabelsLost']);
});

it('gives a disk back the one by which we find it', async () => {
  const { patched, told } = await kept({}, { labels: { etcd_cluster: 'db', etcd_node: 'db-0' } });
  expect(patched).toEqual([['persistentvolumeclaims', { metadata: { uid: 'disk', labels: { app: 'etcd' } } }]]);
  expect(told).toEqual(['LabelsLost']);
});

it('gives a disk back those that others may look for it by', async () => {
  const { patched } = await kept({}, { labels: { app: 'etcd', etcd_node: 'db-0' } }, 'seen');
  expect(patched).toEqual([['persistentvolumeclaims', { metadata: { uid: 'disk', labels: { etcd_cluster: 'db' } } }]]);
});

it.each([
  ['has all of them', {}],
  ['is going', { labels: {}, deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['is not ours yet', { labels: {}, annotations: {} }],
])('leaves alone what %s', async (_, pod) => {
  expect(await kept(pod)).toEqual({ patched: [], told: [] });
});

it('leaves a disk alone that is somebody else’s by now', async () => {
  const ownerReferences = [{ ...blueprint.owner, uid: 'another' }];
  expect(await kept({}, { labels: {}, ownerReferences })).toEqual({ patched: [], told: [] });
});
