import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { readOf } from '../../../../test/support/upkeep-worlds.ts';
import { aWorld, withIntent } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { templateAnnotation } from '../../../core/manifests/pod.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { observeLiveObjects } from './live-objects.ts';

const resources = { requests: { storage: '2Gi' } };
const read = readOf(
  { size: 1, pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], resources } } },
  coreos,
);
const { blueprint } = read;
const volumes = [{ name: 'etcd-data', persistentVolumeClaim: { claimName: 'db-0' } }];
const ours = {
  ownerReferences: [blueprint.owner],
  annotations: { [templateAnnotation(blueprint.naming)]: 'made by us' },
};

interface Given {
  readonly pod?: Partial<ObjectMeta>;
  readonly claim?: object;
  /** True if the cache shows the PVC. */
  readonly isCached?: boolean;
  readonly world?: ReturnType<typeof aWorld>;
  readonly get?: () => Promise<never>;
}

/** Observes a cluster with one pod and its PVC, and counts the reads from the API server. */
async function seen({ pod = {}, claim = {}, isCached = false, world = aWorld(), get }: Given = {}) {
  let reads = 0;
  const { metadata } = samplePod('db-0', 1, { ...ours, ...pod });
  const own = { name: 'db-0', namespace: 'default', uid: 'pvc', ownerReferences: [blueprint.owner] };
  const pvc = { metadata: own, ...claim };
  const caches = {
    pods: { by: () => [{ metadata, spec: { volumes } }] },
    claims: { by: (index: string) => (isCached && index === 'owner' ? [pvc] : []) },
    services: { get: (key: string) => ({ metadata: { name: key } }) },
    budgets: undefined,
  };
  const read1 = async () => {
    reads++;
    return get === undefined ? pvc : get();
  };
  const context = { caches, client: { get: read1 } } as unknown as ControllerContext;
  return { live: await observeLiveObjects({ read, world, peers: undefined }, context), reads: () => reads };
}

describe('the objects around the members of a cluster', () => {
  it('are found in the caches, without a read', async () => {
    const { live, reads } = await seen({ isCached: true });
    expect(live.services.map(({ metadata }) => metadata.name)).toEqual(['default/db', 'default/db-client']);
    expect(live.memberObjects).toMatchObject([
      { of: 'Pod', member: 'db-0' },
      { of: 'PersistentVolumeClaim', member: 'db-0' },
    ]);
    expect(reads()).toBe(0);
  });

  it('include a mounted PVC that no cache shows, if it belongs to the cluster', async () => {
    const { live, reads } = await seen();
    expect(live.memberObjects).toMatchObject([
      { of: 'Pod' },
      { of: 'PersistentVolumeClaim', object: { metadata: {} } },
    ]);
    expect(reads()).toBe(1);
    const foreign = { metadata: { name: 'db-0', uid: 'pvc', ownerReferences: [{ uid: 'another' }] } };
    expect((await seen({ claim: foreign })).live.memberObjects).toMatchObject([{ of: 'Pod' }]);
  });

  it('include the failure to read a PVC', async () => {
    const unread = new Failure('unreachable', 'no answer');
    const { live } = await seen({ get: () => Promise.reject(unread) });
    expect(live.memberObjects).toMatchObject([{ of: 'Pod' }, { unread: { message: 'no answer' } }]);
  });

  it.each([
    ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['is not adopted', { annotations: {} }],
  ])('include no pod that %s', async (_, pod) => {
    expect((await seen({ pod })).live.memberObjects).toEqual([]);
  });

  it.each([
    ['1Gi', 'Bound', { hasVolume: true, isTooSmall: true }],
    ['2048Mi', 'Bound', { hasVolume: true, isTooSmall: false }],
    ['1Gi', 'Pending', { hasVolume: false, isTooSmall: true }],
    ['1Gi', 'Lost', { hasVolume: false, isTooSmall: true }],
  ])('include the size of a PVC of %s that is %s', async (storage, phase, expected) => {
    const claim = { spec: { resources: { requests: { storage } } }, status: { phase } };
    expect((await seen({ claim, isCached: true })).live.claims).toMatchObject([expected]);
  });

  it('are only its owned PVCs while it is paused', async () => {
    const { live, reads } = await seen({ world: aWorld(withIntent({ paused: true })) });
    expect([live.services, live.memberObjects, reads()]).toEqual([[], [], 0]);
  });
});
