import { describe, expect, it } from 'vitest';
import { aWorld } from '../../../test/support/worlds.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../runtime/store.ts';
import { claimsOf, recollect } from './claims-of.ts';
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

const claim = (name: string, metadata: object = {}): Stored<PersistentVolumeClaim> =>
  ({
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1' },
      labels: { [`${prefix}/cluster-name`]: 'db' },
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

  it('go with it where its spec says so, and stay where it says so later', async () => {
    const marked = claim('db-0', { annotations: marks });
    expect(await changes('Delete', marked)).toMatchObject([{ metadata: { ownerReferences: [owner] } }]);
    const owned = claim('db-0', { annotations: marks, ownerReferences: [owner] });
    expect(await changes('Delete', owned)).toEqual([]);
    expect(await changes('Retain', owned)).toMatchObject([{ metadata: { ownerReferences: [] } }]);
  });
});
