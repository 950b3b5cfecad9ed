import { expect, it } from 'vitest';
import { aWorld } from '../../../test/support/worlds.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { PersistentVolumeClaim } from '../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../runtime/store.ts';
import { Failure } from '../../std/failure.ts';
import { growClaims } from './claims.ts';
import { clusterIndex, ownerIndex } from './sources.ts';
import type { Writer } from './writer.ts';

const sized = (storage: string) => ({ resources: { requests: { storage } } });
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 1, pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], ...sized('2Gi') } } },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

/** What is written on a claim for 1Gi that is asked for 2Gi. */
async function writtenOn(phase: string, refusal?: Failure, world = aWorld()): Promise<readonly unknown[]> {
  const claims = new Store<PersistentVolumeClaim>({
    ...{
      indexes: { [ownerIndex]: byOwner, [clusterIndex]: byLabel('etcd_cluster') },
      onHandlerFailure: () => undefined,
    },
  });
  const metadata = { name: 'db-0', namespace: 'default', uid: 'c', ownerReferences: [blueprint.owner] };
  claims.put({ kind: 'PersistentVolumeClaim', metadata, spec: sized('1Gi'), status: { phase } } as never);
  const written: unknown[] = [];
  const patch = async (_: unknown, __: unknown, { body }: { readonly body: { readonly spec?: unknown } }) => {
    if (body.spec !== undefined && refusal !== undefined) throw refusal;
    written.push(body);
  };
  await growClaims(blueprint, world, { caches: { claims } as never, writer: { patch } as never as Writer });
  return written;
}

it('a claim is asked to grow when it has its volume', async () => {
  expect(await writtenOn('Bound')).toMatchObject([{ spec: sized('2Gi') }]);
});

it('that it cannot grow is noted where that was refused, and not while there is nothing that could', async () => {
  const refusal = new Failure('rejected', 'spec is immutable after creation except for bound claims');
  expect(await writtenOn('Bound', refusal)).toMatchObject([
    { metadata: { annotations: { 'etcd.database.coreos.com/cannot-grow-to': '2Gi' } } },
  ]);
  expect(await writtenOn('Pending', refusal)).toEqual([]);
});

it('that there is no room for it at the moment is told, and it is asked again', async () => {
  const refusal = new Failure('forbidden', 'persistentvolumeclaims "db-0" is forbidden: exceeded quota: storage');
  await expect(writtenOn('Bound', refusal)).rejects.toBe(refusal);
  const never = new Failure('forbidden', 'only dynamically provisioned pvc can be resized');
  expect(await writtenOn('Bound', never)).toHaveLength(1);
});

it('none is touched while it is not known of which cluster they are', async () => {
  const { memory } = aWorld();
  expect(await writtenOn('Bound', undefined, { ...aWorld(), memory: { ...memory, doubt: 'whose?' } })).toEqual([]);
});
