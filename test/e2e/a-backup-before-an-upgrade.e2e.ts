import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { applyBackup, claimManifest, createSecret } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const made = 'db-before-3.6.16';
/** It only says where backups go, and makes none itself. */
const likeness = { etcdCluster: { name: 'db' }, backupPolicy: { suspend: true } };
const nobodyListens = {
  storageType: 'S3',
  s3: { path: 'upgrades/db', awsSecret: 'aws', endpoint: 'http://127.0.0.1:9', forcePathStyle: true },
};

story.asOnTheLab('a backup that fails holds an upgrade until it can be made', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 1, version: '3.5.35' });
  await db.settled(1);
  await step('where it would go nobody listens: it is told, and nobody moves', async () => {
    const credentials = '[default]\naws_access_key_id = a\naws_secret_access_key = b\n';
    await createSecret(kubectl, 'aws', { credentials, config: '[default]\nregion = us-east-1\n' });
    await applyBackup(kubectl, 'likeness', { ...likeness, ...nobodyListens });
    const spec = { version: '3.6.16', backupBeforeUpgrade: { like: 'likeness' } };
    await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
    const says = `nobody moves to 3.6.16 without a backup, and ${made} failed`;
    expect(await toldOf(db, says, 90)).toMatchObject({ reason: 'BackupFailed' });
    const images = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
    expect(images).toMatch(/:v3\.5\.35$/);
  });
  const failed = await shown(kubectl, `etcdbackup/${made}`, '.metadata.uid');
  await step('when somebody names another place it is made there, and the upgrade goes on', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    const spec = { s3: null, storageType: 'PVC', pvc: { claimName: 'backups', path: 'upgrades/db' } };
    await kubectl(`patch etcdbackup likeness --type=merge -p '${JSON.stringify({ spec })}'`);
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.currentVersion', '3.6.16')));
    await db.settled(1);
  });
  await step('it is another backup, of what ran before', async () => {
    const { metadata, status } = await kubectl.json<{ metadata: { uid: string }; status: object }>(
      `get etcdbackup ${made}`,
    );
    expect(metadata.uid).not.toBe(failed);
    expect(status).toMatchObject({ succeeded: true, etcdVersion: '3.5.35' });
    expect(await shown(kubectl, 'etcdcluster/db', '.status.conditions')).not.toContain('BackupFailed');
  });
});
