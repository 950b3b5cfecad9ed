import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { applyBackup, claimManifest, createSecret } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const made = 'db-before-3.6.16';
/** The template of the pre-upgrade backup. It is suspended, so it makes no backup itself. */
const template = { etcdCluster: { name: 'db' }, backupPolicy: { suspend: true } };
const unreachableStore = {
  storageType: 'S3',
  s3: { path: 'upgrades/db', awsSecret: 'aws', endpoint: 'http://127.0.0.1:9', forcePathStyle: true },
};

story.asOnTheLab('a failed pre-upgrade backup blocks the upgrade until a backup succeeds', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 1, version: '3.5.35' });
  await db.settled(1);
  await step('an unreachable store blocks the upgrade, and the status reports it', async () => {
    const credentials = '[default]\naws_access_key_id = a\naws_secret_access_key = b\n';
    await createSecret(kubectl, 'aws', { credentials, config: '[default]\nregion = us-east-1\n' });
    await applyBackup(kubectl, 'template', { ...template, ...unreachableStore });
    const spec = { version: '3.6.16', backupBeforeUpgrade: { like: 'template' } };
    await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
    const message = `upgrade to 3.6.16 blocked: required backup ${made} failed`;
    expect(await degradedWith(db, message, 90)).toMatchObject({ reason: 'BackupFailed' });
    const images = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
    expect(images).toMatch(/:v3\.5\.35$/);
  });
  const failed = await fieldOf(kubectl, `etcdbackup/${made}`, '.metadata.uid');
  await step('with another store the backup succeeds, and the upgrade continues', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    const spec = { s3: null, storageType: 'PVC', pvc: { claimName: 'backups', path: 'upgrades/db' } };
    await kubectl(`patch etcdbackup template --type=merge -p '${JSON.stringify({ spec })}'`);
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.currentVersion', '3.6.16')));
    await db.settled(1);
  });
  await step('a new EtcdBackup holds the snapshot of etcd 3.5.35', async () => {
    const { metadata, status } = await kubectl.json<{ metadata: { uid: string }; status: object }>(
      `get etcdbackup ${made}`,
    );
    expect(metadata.uid).not.toBe(failed);
    expect(status).toMatchObject({ succeeded: true, etcdVersion: '3.5.35' });
    expect(await fieldOf(kubectl, 'etcdcluster/db', '.status.conditions')).not.toContain('BackupFailed');
  });
});
