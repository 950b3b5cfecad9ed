import { expect } from 'vitest';
import { namesOf, read } from '../support/api.ts';
import { applyBackup, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { KilledOperator } from '../support/killed-operator.ts';
import { imageUnderTest, installOperator, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const pvc = { claimName: 'backups', path: 'db' };

/** Steps of restores only: killed-at-every-step.e2e.ts covers the steps of a cluster. */
const stepsOfRestores = [
  ...['prove', 'start-seed', 'pin', 'hold-cluster', 'stop-pods', 'set-aside', 'hand-over', 'rewrite-memory'],
  ...['release-cluster', 'keep-old-data', 'unpin'],
];

const moments = ['starting backup', 'backup ended', 'taking step', 'step taken'];

story.asOnTheLab(
  'an operator that is killed at every step of a backup and a restore completes both',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await db.apply({ size: 1, version: '3.6.16', durable: true });
    await db.settled(1);
    await writeKeys(db, 'good');
    const [before, ids] = [await allKeys(db), await db.ids()];
    await scaleOperator(context, 0);
    const flags = ['--agent-image', imageUnderTest()];
    const isOfBackupOrRestore = (kind: string): boolean => kind === '' || stepsOfRestores.includes(kind);
    const operator = new KilledOperator(context, isOfBackupOrRestore, { moments, flags });
    try {
      await step('killed while it saves: one snapshot is saved', async () => {
        await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
        expect(await backedUp(kubectl, 'saved')).toMatchObject({ etcdRevision: 21 });
        await waitForDeletion(kubectl, 'pods -l app=etcd-backup');
      });
      await step('killed while it restores', async () => {
        await writeKeys(db, 'bad');
        const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc };
        await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'again', spec) });
        await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
        await until('the restore has no finalizer', async () => {
          const { metadata } = await read(kubectl, 'etcdrestore/again');
          return (metadata.finalizers ?? []).length === 0 || undefined;
        });
        await db.settled(1);
      });
      expect(await allKeys(db)).toEqual(before);
      expect(await db.ids()).not.toEqual(ids);
      const ofRestores = 'persistentvolumeclaims -l app=etcd-restore';
      await until('no volume of the restore is left', async () => {
        return (await namesOf(kubectl, ofRestores)).length === 0 || undefined;
      });
      const kinds = ['starting backup', 'backup ended', ...stepsOfRestores];
      expect([...operator.kinds]).toEqual(expect.arrayContaining(kinds));
    } finally {
      await operator.end();
    }
  },
);
