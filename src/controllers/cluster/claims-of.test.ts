import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, withMember } from '../../../test/support/worlds.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../runtime/store.ts';
import { allClaimsOf, claimsOf, recollect } from './claims-of.ts';
import { keepClaims } from './keep-claims.ts';
import { clusterIndex, ownerIndex } from './sources.ts';
import type { Writer } from './writer.ts';

const readWith = (volumeClaimPolicy: string) => {
  const metadata = { name: 'db', namespace: 'default', uid: 'uid-1' };
  const read = improbable.read({ metadata, spec: { replicas: 3, storage: { volumeClaimPolicy } } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};
const read = readWith('Retain');
const { owner } = read.blueprint;
const prefix = 'etcd.improbable.io';
const marks = { [`${prefix}/cluster-id`]: 'c1', [`${prefix}/members`]: 'db-0,db-1,db-2' };

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
  return { claims } as never as Parameters<typeof keepClaims>[2]['caches'];
}

describe('the disks of a cluster that may outlive it', () => {
  const otherOwner = { ownerReferences: [{ ...owner, uid: 'uid-0' }] };

  it('are its own and those that nobody owns, and not those of a cluster that is going', () => {
    const caches = cachesWith(
      ...[claim('db-0'), claim('db-1', { ownerReferences: [owner] }), claim('db-2', otherOwner)],
      claim('db-3', { labels: { [`${prefix}/cluster-name`]: 'another' } }),
    );
    expect(claimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1', 'db-0']);
  });

  it('are none that only have its labels, or that no member could be called; but their names are taken', () => {
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

  it('leave their names to nobody while a restore has set them aside', () => {
    const aside = { ownerReferences: [{ ...owner, kind: 'EtcdRestore', uid: 'uid-of-restore' }] };
    const caches = cachesWith(claim('db-0', aside), claim('db-1'), claim('db-2', otherOwner));
    expect(claimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1']);
    expect(allClaimsOf(read.blueprint, caches).map(({ metadata }) => metadata.name)).toEqual(['db-1', 'db-0']);
  });

  it('are taken up by a cluster that is made again on them', () => {
    const claims = ['db-0', 'db-1', 'db-2'].map((name) => claim(name, { annotations: marks }));
    const { memory, leftDisks, claims: bodies } = recollect(read, { pods: [], claims });
    expect(memory).toMatchObject({ clusterId: 'c1', voters: ['db-0', 'db-1', 'db-2'] });
    expect([leftDisks, bodies]).toEqual([[], claims]);
  });

  it('found a new one where nothing stands on them', () => {
    const { memory, leftDisks, claims } = recollect(read, { pods: [], claims: [claim('db-1')] });
    expect([memory.clusterId, leftDisks, claims]).toEqual([undefined, ['db-1'], []]);
  });

  it('do not make a cluster ours that another operator has had since', () => {
    const claims = [claim('db-0', { annotations: marks })];
    const keeper = { name: nameOf('db-0'), uid: 'r', isLeaving: false };
    expect(recollect(read, { pods: [], claims }).memory.clusterId).toBe('c1');
    expect(recollect(read, { pods: [], claims }, [keeper]).memory.clusterId).toBeUndefined();
    const pods = [
      { metadata: { name: 'db-0', uid: 'p', ownerReferences: [{ kind: 'ReplicaSet', uid: 'r' }] } },
    ] as never;
    expect(recollect(read, { pods, claims }).memory.clusterId).toBeUndefined();
  });

  it('found none where there never was a volume behind them, and their names are free', () => {
    const unused = claim('db-1', {}, { phase: 'Pending' });
    const found = recollect(read, { pods: [], claims: [claim('db-0', {}, { phase: 'Bound' }), unused] });
    expect([found.leftDisks, found.unused]).toEqual([['db-0'], [unused]]);
  });

  it('are forgotten where they have been deleted, while something still holds them', () => {
    const going = { annotations: marks, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const all = ['db-0', 'db-1', 'db-2'].map((name) => claim(name, going, { phase: 'Bound' }));
    const { memory, leftDisks, unused } = recollect(read, { pods: [], claims: all });
    expect([memory.clusterId, memory.voters, leftDisks, unused]).toEqual([undefined, [], [], all]);
    const known = { ...read, memory: { ...read.memory, clusterId: 'c1' } };
    expect(recollect(known, { pods: [], claims: all }).memory).toMatchObject({ voters: ['db-0', 'db-1', 'db-2'] });
  });

  it('are not taken for its own where they are of another, or somebody has brought them', () => {
    const other = { annotations: { ...marks, [`${prefix}/cluster-id`]: 'c2' } };
    const made = { annotations: { [`${prefix}/claim`]: 'kind' } };
    const claims = [claim('db-0'), claim('db-3', other), claim('db-4'), claim('db-5', made)];
    const found = recollect({ ...read, memory: aWorld().memory }, { pods: [], claims });
    expect(found.strangeDisks).toEqual(['db-3', 'db-4']);
    expect(found.claims.map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-5']);
  });

  const changes = async (policy: string, ...all: readonly Stored<PersistentVolumeClaim>[]) => {
    const bodies: unknown[] = [];
    const writer = { patch: async (_: unknown, __: unknown, { body }: { body: object }) => void bodies.push(body) };
    const keeping = { caches: cachesWith(...all), writer: writer as unknown as Writer };
    await keepClaims(readWith(policy).blueprint, aWorld(), keeping);
    return bodies;
  };

  it('say of which cluster they are, once their member has joined', async () => {
    const metadata = { uid: 'uid-of-db-0', annotations: marks, ownerReferences: [] };
    expect(await changes('Retain', claim('db-0'), claim('db-9'))).toEqual([{ metadata }]);
    expect(await changes('Retain', claim('db-0', { annotations: marks }))).toEqual([]);
  });

  it('are told apart before anything is written on them', async () => {
    const strange = { ...aWorld(), strangeDisks: ['db-9'] as never };
    const bodies: unknown[] = [];
    const writer = { patch: async (_: unknown, __: unknown, { body }: { body: object }) => void bodies.push(body) };
    const keeping = { caches: cachesWith(claim('db-9')), writer: writer as unknown as Writer };
    await keepClaims(readWith('Delete').blueprint, strange, keeping);
    expect(bodies).toEqual([]);
  });

  it('do not go with it where they say that they are of another, and their member does not answer', async () => {
    const other = claim('db-0', { annotations: { ...marks, [`${prefix}/cluster-id`]: 'c2' } });
    const bodies: unknown[] = [];
    const writer = { patch: async (_: unknown, __: unknown, { body }: { body: object }) => void bodies.push(body) };
    const keeping = { caches: cachesWith(other), writer: writer as unknown as Writer };
    await keepClaims(readWith('Delete').blueprint, aWorld(withMember('db-0', { health: 'silent' })), keeping);
    expect(bodies).toEqual([]);
    await keepClaims(readWith('Delete').blueprint, aWorld(), keeping);
    expect(bodies).toMatchObject([{ metadata: { annotations: marks, ownerReferences: [owner] } }]);
  });

  it('go with it where its spec says so, and stay where it says so later', async () => {
    const marked = claim('db-0', { annotations: marks });
    expect(await changes('Delete', marked)).toMatchObject([{ metadata: { ownerReferences: [owner] } }]);
    const owned = claim('db-0', { annotations: marks, ownerReferences: [owner] });
    expect(await changes('Delete', owned)).toEqual([]);
    expect(await changes('Retain', owned)).toMatchObject([{ metadata: { ownerReferences: [] } }]);
  });
});
