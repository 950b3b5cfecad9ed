import { expect, it } from 'vitest';
import { coreosBackups } from '../../src/apis/coreos-v1beta2/backup.ts';
import { SimulatedBackups } from './simulated-backups.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const hour = 3_600_000;

it('a schedule is requeued exactly at its next slot if the slot is near', async () => {
  const world = new SimulatedBackups(start);
  const destination = { objectURLTemplate: 's3://bucket/{{ .UID }}.db', credentialsSecret: 'aws' };
  world.create(world.schedules, {
    ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdBackupSchedule' },
    metadata: { name: 'hourly', namespace: 'tenant' },
    spec: { schedule: '@every 1h', backupTemplate: { source: { clusterURL: 'http://db:2379' }, destination } },
  });
  world.now = start + hour - 310_000;
  await world.pass();
  expect(world.outcomes.get('tenant/hourly')).toEqual({ is: 'requeue', afterSeconds: 310.01 });
});

it('a backup with a policy is requeued exactly at its next slot if the slot is near', async () => {
  const world = new SimulatedBackups(start, coreosBackups);
  world.create(world.backups, {
    ...{ apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdBackup' },
    metadata: { name: 'b', namespace: 'tenant' },
    spec: {
      ...{ etcdEndpoints: ['http://db:2379'], storageType: 'S3', s3: { path: 'bucket/key', awsSecret: 'aws' } },
      backupPolicy: { backupIntervalInSecond: 3600 },
    },
  });
  for (let passes = 0; passes < 6; passes++) {
    await world.pass();
    world.work();
  }
  world.now = start + hour - 610_000;
  await world.pass();
  expect(world.outcomes.get('tenant/b')).toEqual({ is: 'requeue', afterSeconds: 610.01 });
});
