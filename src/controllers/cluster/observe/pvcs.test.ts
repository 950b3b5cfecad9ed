import { describe, expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../../runtime/store.ts';
import { clusterIndex, ownerIndex } from '../../shared/context.ts';
import { allClaimsOf, claimsOf, ownClaimsOf, recallFromPvcs } from './pvcs.ts';

const readWith = (volumeClaimPolicy: string) => {
  const metadata = { name: 'db', namespace: 'default', uid: 'uid-1' };
  const read = improbable.read({ metadata, spec: { replicas: 3, storage: { volumeClaimPolicy } } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};
const read = readWith('Retain');
const { owner } = read.blueprint;
const prefix = 'etcd.improbable.io';
const annotations = { [`${prefix}/cluster-id`]: 'c1', [`${prefix}/members`]: 'db-0,db-1,db-2' };

const claim = (name: string, metadata: object = {}, status?: object): Stored<PersistentVolumeClaim> =>
  ({
    status,
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1' },
      labels: { [`${prefix}/cluster-name`]: 'db', [`${prefix}/peer-name`]: name },
      ...metadata,
    },
  }) as unknown as Stored<PersistentVolumeClaim>;

function cachesWith(...all: readonly Stored<PersistentVolumeClaim>[]) {
  const indexes = { [ownerIndex]: byOwner, [clusterIndex]: byLabel(`${prefix}/cluster-name`) };
  const claims = new Store<PersistentVolumeClaim>({ indexes, onHandlerFailure: () => undefined });
  for (const each of all) claims.put(each);
  return { claims };
}

describe('the PVCs of a cluster with volumeClaimPolicy Retain', () => {
  const otherOwner = { ownerReferences: [{ ...owner, uid: 'uid-0' }] };

  it('are its own PVCs and PVCs without an owner, not those of another owner', () => {
    const caches = cachesWith(
      ...[claim('db-0'), claim('db-1', { ownerReferences: [owner] }), claim('db-2', otherOwner)],
      claim('db-3', { labels: { [`${prefix}/cluster-name`]: 'another' } }),
    );
    expect(claimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1', 'db-0']);
  });

  it('exclude PVCs that only have its labels or no member name; but their names are used', () => {
    const clusterOnly = { labels: { [`${prefix}/cluster-name`]: 'db' } };
    const others = [
      claim('db-backups'),
      claim('db-3', clusterOnly),
      claim('db-04'),
      claim('db-x-1'),
      claim('elsewhere-1'),
    ];
    const caches = cachesWith(claim('db-0'), ...others);
    expect(claimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-0']);
    expect(allClaimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toContain('db-3');
  });

  it('keep their names used while a restore has set them aside', () => {
    const aside = { ownerReferences: [{ ...owner, kind: 'EtcdRestore', uid: 'uid-of-restore' }] };
    const caches = cachesWith(claim('db-0', aside), claim('db-1'), claim('db-2', otherOwner));
    expect(claimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1']);
    expect(allClaimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1', 'db-0']);
  });

  it('give a recreated cluster its memory', () => {
    const claims = ['db-0', 'db-1', 'db-2'].map((name) => claim(name, { annotations }));
    const { memory, retainedVolumes, claims: podsAndPvcs } = recallFromPvcs(read, { pods: [], claims });
    expect(memory).toMatchObject({ clusterId: 'c1', voters: ['db-0', 'db-1', 'db-2'] });
    expect([retainedVolumes, podsAndPvcs]).toEqual([[], claims]);
  });

  it('are retained volumes without memory if they have no annotations', () => {
    const { memory, retainedVolumes, claims } = recallFromPvcs(read, { pods: [], claims: [claim('db-1')] });
    expect([memory.clusterId, retainedVolumes, claims]).toEqual([undefined, ['db-1'], []]);
  });

  it('give no memory to a cluster that another operator runs', () => {
    const claims = [claim('db-0', { annotations })];
    const legacyReplicaSet = { name: nameOf('db-0'), uid: 'r', isLeaving: false };
    expect(recallFromPvcs(read, { pods: [], claims }).memory.clusterId).toBe('c1');
    expect(recallFromPvcs(read, { pods: [], claims }, [legacyReplicaSet]).memory.clusterId).toBeUndefined();
    const pods = [
      { metadata: { name: 'db-0', uid: 'p', ownerReferences: [{ kind: 'ReplicaSet', uid: 'r' }] } },
    ] as never;
    expect(recallFromPvcs(read, { pods, claims }).memory.clusterId).toBeUndefined();
  });

  it('are unused, with free names, if they never had a volume', () => {
    const unused = claim('db-1', {}, { phase: 'Pending' });
    const found = recallFromPvcs(read, { pods: [], claims: [claim('db-0', {}, { phase: 'Bound' }), unused] });
    expect([found.retainedVolumes, found.unused]).toEqual([['db-0'], [unused]]);
  });

  it('give no memory once they are deleted, while a pod still holds them', () => {
    const going = { annotations, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const all = ['db-0', 'db-1', 'db-2'].map((name) => claim(name, going, { phase: 'Bound' }));
    const { memory, retainedVolumes, unused } = recallFromPvcs(read, { pods: [], claims: all });
    expect([memory.clusterId, memory.voters, retainedVolumes, unused]).toEqual([undefined, [], [], all]);
    const known = { ...read, memory: { ...read.memory, clusterId: 'c1' } };
    expect(recallFromPvcs(known, { pods: [], claims: all }).memory).toMatchObject({ voters: ['db-0', 'db-1', 'db-2'] });
  });

  it('are foreign if they belong to another cluster or were made by a user', () => {
    const other = { annotations: { ...annotations, [`${prefix}/cluster-id`]: 'c2' } };
    const made = { annotations: { [`${prefix}/pvc-template-hash`]: 'kind' } };
    const claims = [claim('db-0'), claim('db-3', other), claim('db-4'), claim('db-5', made)];
    const found = recallFromPvcs({ ...read, memory: aWorld().memory }, { pods: [], claims });
    expect(found.foreignVolumes).toEqual(['db-3', 'db-4']);
    expect(found.claims.map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-5']);
  });

  it('are not kept by upkeep if they are foreign', () => {
    const caches = cachesWith(claim('db-0'), claim('db-9'));
    const own = ownClaimsOf(read.blueprint, { foreignVolumes: [nameOf('db-9')] }, caches);
    expect(own.map(({ metadata }) => metadata.name)).toEqual(['db-0']);
  });
});
