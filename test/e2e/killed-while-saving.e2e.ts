import { expect } from 'vitest';
import { namesOf, read } from '../support/api.ts';
import { applyBackup, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { Mortal } from '../support/mortal.ts';
import { imageUnderTest, installOperator, scaleOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const pvc = { claimName: 'backups', path: 'db' };

/** Only what restores do: the steps of a cluster are told of elsewhere. */
const stepsOfRestores = [
  ...['prove', 'start-seed', 'pin', 'hold-cluster', 'stop-pods', 'set-aside', 'hand-over', 'rewrite-memory'],
  ...['release-cluster', 'keep-old-data', 'unpin'],
];

const moments = ['a backup begins', 'a backup has ended', 'taking step', 'step taken'];

story.asOnTheLab('an operator that is killed at every step of a backup and a restore goes on', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await kubectl('apply -f -', { input: claimManifest('backups') });
  await db.apply({ size: 1, version: '3.6.16', durable: true });
  await db.settled(1);
  await write(db, 'good');
  const [before, ids] = [await everything(db), await db.ids()];
  await scaleOperator(told, 0);
  const flags = ['--agent-image', imageUnderTest()];
  const isOfBackupOrRestore = (kind: string): boolean => kind === '' || stepsOfRestores.includes(kind);
  const operator = new Mortal(told, isOfBackupOrRestore, { moments, flags });
  try {
    await step('while it saves, which is done once', async () => {
      await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
      expect(await backedUp(kubectl, 'saved')).toMatchObject({ etcdRevision: 21 });
      await waitForDeletion(kubectl, 'pods -l app=etcd-backup');
    });
    await step('while it restores', async () => {
      await write(db, 'bad');
      const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc };
      await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'again', spec) });
      await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
      await until('it may go', async () => {
        const { metadata } = await read(kubectl, 'etcdrestore/again');
        return (metadata.finalizers ?? []).length === 0 || undefined;
      });
      await db.settled(1);
    });
    expect(await everything(db)).toEqual(before);
    expect(await db.ids()).not.toEqual(ids);
    const ofRestores = 'persistentvolumeclaims -l app=etcd-restore';
    await until('no volume of the restore is left', async () => {
      return (await namesOf(kubectl, ofRestores)).length === 0 || undefined;
    });
    const kinds = ['a backup begins', 'a backup has ended', ...stepsOfRestores];
    expect([...operator.kinds]).toEqual(expect.arrayContaining(kinds));
  } finally {
    await operator.end();
  }
});
