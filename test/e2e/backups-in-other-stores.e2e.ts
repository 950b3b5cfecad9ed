import { expect } from 'vitest';
import {
  applyBackup,
  backedUp,
  createSecret,
  resourceOf,
  startAzureForPods,
  startGcsForPods,
} from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { bucket, type StoreServer } from '../support/store-servers.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

interface Store {
  readonly type: 'GCS' | 'ABS';
  readonly start: () => Promise<StoreServer>;
  readonly spec: (path: string, endpoint: string | undefined) => object;
}

const stores: readonly Store[] = [
  { type: 'GCS', start: startGcsForPods, spec: (path, endpoint) => ({ gcs: { path, gcpSecret: 'store', endpoint } }) },
  {
    type: 'ABS',
    start: startAzureForPods,
    spec: (path, endpoint) => ({ abs: { path, absSecret: 'store', endpoint } }),
  },
];

for (const { type, start, spec } of stores)
  story.onOurCluster(`a backup to a store of type ${type} is restored from it`, async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await using server = await start();
    const place = spec(`${bucket}/etcd/saved.db`, server.address.endpoint);
    await installOperator(context);
    await createSecret(kubectl, 'store', server.secret);
    const before = await step('a backup is saved', async () => {
      await db.apply({ size: 1, version: '3.6.16' });
      await db.settled(1);
      await writeKeys(db, 'good');
      const seen = await allKeys(db);
      await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: type, ...place });
      expect((await backedUp(kubectl, 'saved')).lastBackup?.sizeBytes).toBeGreaterThan(0);
      return seen;
    });
    await step('a restore reverts later writes', async () => {
      await writeKeys(db, 'bad');
      const restore = { etcdCluster: { name: 'db' }, backupStorageType: type, ...place };
      await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', restore) });
      await waitFor(kubectl, 'etcdrestore/db', inSeconds(180, field('.status.succeeded', true)));
      await db.settled(1);
      expect(await allKeys(db)).toEqual(before);
    });
  });
