import { expect, it } from 'vitest';
import { byLabel, Store } from '../../../runtime/store.ts';
import { type ClusterObject, type ControllerContext, clusterIndex } from '../../shared/context.ts';
import { releasePeers } from './release-peers.ts';

const oldFinalizer = 'etcdpeer.etcd.improbable.io/pvc-cleanup';

/** Returns the patches of the deletion of cluster db. */
async function released(leads: boolean) {
  const store = new Store<ClusterObject>({
    indexes: { [clusterIndex]: byLabel('cluster') },
    onHandlerFailure: () => undefined,
  });
  for (const [name, cluster, deletionTimestamp] of [
    ['db-7', 'db', '2026-01-01T00:00:00Z'],
    ['db-6', 'db', undefined],
    ['one-0', 'one', '2026-01-01T00:00:00Z'],
  ]) {
    const finalizers = [oldFinalizer, 'example.com/other'];
    const metadata = { name, namespace: 'default', uid: `uid-of-${name}`, labels: { cluster }, finalizers };
    store.put({ metadata: { ...metadata, deletionTimestamp } } as never);
  }
  const patched: unknown[] = [];
  const patch = async (_: unknown, { name }: { name: string }, { body }: { body: object }) =>
    void patched.push([name, body]);
  const peers = { resource: { kind: 'EtcdPeer' }, store, oldFinalizer };
  const controller = { peers, writer: () => ({ patch }), log: () => undefined, leads: () => leads };
  await releasePeers('default/db', controller as unknown as ControllerContext);
  return patched;
}

it('terminating EtcdPeers of a deleted cluster lose the finalizer of the original operator', async () => {
  const body = { metadata: { uid: 'uid-of-db-7', finalizers: ['example.com/other'] } };
  expect(await released(true)).toEqual([['db-7', body]]);
});

it('EtcdPeers of a deleted cluster are not changed by an operator that no longer leads', async () => {
  await expect(released(false)).rejects.toThrow('no longer holds the leader lease');
});
