import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import {
  applyBackup,
  backedUp,
  claimManifest,
  createSecret,
  startS3ForPods,
  storedSnapshotStatus,
} from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { eventsContain } from '../support/events.ts';
import { installOperator, scaleOperator } from '../support/operator.ts';
import { awsSecret, openOn, type StoreServer } from '../support/store-servers.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.5.35';

const s3At = (server: StoreServer, key: string, secret = 'aws'): object => ({
  storageType: 'S3',
  s3: { path: `backups/${key}`, awsSecret: secret, endpoint: server.address.endpoint, forcePathStyle: true },
});

story.onOurCluster('an EtcdBackup saves one snapshot to S3 or to a PVC', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = declared(kubectl);
  await using server = await startS3ForPods();
  await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
  await installOperator(context);
  await step('a cluster with 20 keys', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
    await db.withMembers(async ([first]) => {
      for (let i = 0; i < 20; i++) await first?.put(`key/${i}`, Buffer.from(`value ${i}`));
    });
  });
  await step('a missing Secret blocks the backup; wrong credentials fail it; both are reported', async () => {
    await applyBackup(kubectl, 'early', {
      etcdEndpoints: [`http://db-client.${namespace}.svc:2379`, 'http://127.0.0.1:1'],
      ...s3At(server, 'early.db'),
    });
    await waitFor(kubectl, 'etcdbackup/early', field('.status.conditions[0].reason', 'BackupBlocked'));
    await createSecret(kubectl, 'wrong', awsSecret('unknown', 'a-wrong-secret'));
    await applyBackup(kubectl, 'denied', { etcdCluster: { name: 'db' }, ...s3At(server, 'denied.db', 'wrong') });
    await waitFor(kubectl, 'etcdbackup/denied', inSeconds(120, condition('Succeeded', 'False')));
    const reason = await fieldOf(kubectl, 'etcdbackup/denied', '.status.Reason');
    expect(reason).toMatch(/failed to save snapshot .*Secret "wrong"/);
  });
  await step('saved to S3, although one of two endpoints does not answer', async () => {
    await createSecret(kubectl, 'aws', server.secret);
    const status = await backedUp(kubectl, 'early');
    expect(status).toMatchObject({ succeeded: true, Reason: '', etcdVersion: version, etcdRevision: 21 });
    const stored = await storedSnapshotStatus(server, 'early.db');
    expect(stored).toMatchObject({ revision: 21 });
    for (const reason of ['BackupBlocked', 'Saved']) await eventsContain(kubectl, { name: 'early', reason });
  });
  await step('saved to a PVC while the operator is down', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await applyBackup(kubectl, 'on-pvc', {
      etcdCluster: { name: 'db' },
      storageType: 'PVC',
      pvc: { claimName: 'backups', path: 'daily/db.snapshot' },
    });
    await until('the backup has begun', async () => {
      const reason = await fieldOf(kubectl, 'etcdbackup/on-pvc', '.status.conditions[0].reason');
      return reason === 'Saving' || reason === 'Saved' || undefined;
    });
    await scaleOperator(context, 0);
    await scaleOperator(context, 1);
    const status = await backedUp(kubectl, 'on-pvc');
    expect(status.lastBackup?.url).toBe('file://backups/daily/db.snapshot');
    await kubectl('wait pods -l app=etcd-backup --for=delete --timeout=60s --field-selector=status.phase=Succeeded');
  });
  await step('deleted EtcdBackups leave the stored snapshots', async () => {
    await kubectl('delete etcdbackup --all');
    await waitForDeletion(kubectl, 'pods -l app=etcd-backup');
    using store = await openOn(server);
    expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual([
      'early.db',
      'early.db.manifest.json',
    ]);
  });
});

story.onOurCluster('a periodic EtcdBackup prunes its own snapshots only', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await using server = await startS3ForPods();
  using store = await openOn(server);
  const keys = async (): Promise<readonly string[]> =>
    (await Array.fromAsync(store.list('db'))).map(({ key }) => key).filter((key) => !key.endsWith('.json'));
  await installOperator(context);
  await createSecret(kubectl, 'aws', server.secret);
  await db.apply({ size: 1, version });
  await db.settled(1);
  const foreign = ['db-of-another-tool', 'db_v99_not-a-date'];
  for (const key of foreign) await store.put(key, bytes('not ours'));
  await applyBackup(kubectl, 'often', {
    etcdCluster: { name: 'db' },
    ...s3At(server, 'db'),
    backupPolicy: { backupIntervalInSecond: 4, maxBackups: 2 },
  });
  const [first = ''] = await step('the first snapshot is saved at once', () =>
    until('a backup', async () => {
      const found = (await keys()).filter((key) => !foreign.includes(key));
      return found.length > 0 ? found : undefined;
    }),
  );
  await step('the first snapshot is pruned after two newer ones, and foreign objects are kept', async () => {
    await until('the first snapshot is pruned', async () => !(await keys()).includes(first) || undefined, {
      seconds: 240,
    });
    await kubectl(`patch etcdbackup often --type=merge -p '{"spec":{"backupPolicy":{"suspend":true}}}'`);
    await waitFor(kubectl, 'etcdbackup/often', field('.status.conditions[0].reason', 'Suspended'));
    const left = await keys();
    expect(left.filter((key) => !foreign.includes(key))).toHaveLength(2);
    expect(left).toEqual(expect.arrayContaining(foreign));
    expect(first).toMatch(/^db_v\d+_\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d$/);
  });
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
