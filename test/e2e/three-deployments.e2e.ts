import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { applyBackup, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { example, installOperator, scaleOperator, underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { until } from '../support/until.ts';
import { created, field, inSeconds, rolledOut, waitFor } from '../support/waits.ts';

const store = (path: string) => ({ storageType: 'PVC', pvc: { claimName: 'backups', path } });

story.asOnTheLab(
  "the original's three Deployments run side by side, and each backup and restore runs once",
  async (context) => {
    const { kubectl, step, namespace } = context;
    const db = declared(kubectl);
    const holder = (lease: string): Promise<string> => fieldOf(kubectl, `lease/${lease}`, '.spec.holderIdentity');
    await installOperator(context);
    for (const lease of ['etcd-backup-operator', 'etcd-restore-operator'])
      await waitFor(kubectl, `lease/${lease}`, created);
    await step('two more Deployments run as standby', async () => {
      for (const program of ['etcd-backup-operator', 'etcd-restore-operator']) {
        await kubectl('apply -f -', { input: underTest(example(`${program}/deployment.yaml`, namespace)) });
        await waitFor(kubectl, `deployment/${program}`, inSeconds(90, rolledOut));
      }
      for (const lease of ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'])
        expect(await holder(lease)).toMatch(/^etcd-operator-/);
    });
    await step('a backup is made by one operator', async () => {
      await kubectl('apply -f -', { input: claimManifest('backups') });
      await db.apply({ size: 1, version: '3.5.35' });
      await db.settled(1);
      await writeKeys(db, 'good');
      await applyBackup(kubectl, 'first', { etcdCluster: { name: 'db' }, ...store('first.db') });
      await backedUp(kubectl, 'first');
      const begun = await Promise.all(
        ['etcd-operator', 'etcd-backup-operator'].map((name) => kubectl(`logs deployment/${name}`)),
      );
      expect(begun.map((log) => log.split('starting backup').length - 1)).toEqual([1, 0]);
    });
    await step('without the first operator, the second makes the backup', async () => {
      await scaleOperator(context, 0);
      await applyBackup(kubectl, 'second', { etcdEndpoints: ['http://db-client:2379'], ...store('second.db') });
      await backedUp(kubectl, 'second');
      expect(await holder('etcd-backup-operator')).toMatch(/^etcd-backup-operator-/);
    });
    await step('the third operator restores, and the first manages clusters only', async () => {
      await until(
        'the third operator holds the restore lease',
        async () => (await holder('etcd-restore-operator')).startsWith('etcd-restore-') || undefined,
      );
      await scaleOperator(context, 1);
      const before = await allKeys(db);
      await writeKeys(db, 'bad');
      const { storageType: backupStorageType, ...place } = store('second.db');
      const spec = { etcdCluster: { name: 'db' }, backupStorageType, ...place };
      await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
      await waitFor(kubectl, 'etcdrestore/db', inSeconds(120, field('.status.succeeded', true)));
      await db.settled(1);
      expect(await allKeys(db)).toEqual(before);
      const logs = ['etcd-operator', 'etcd-restore-operator'].map((name) => kubectl(`logs deployment/${name}`));
      const restoring = (await Promise.all(logs)).map((log) => log.includes('"step":"hand-over"'));
      expect(restoring).toEqual([false, true]);
    });
  },
);
