import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../src/apis/coreos-v1beta2/backup.ts';
import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { improbableBackups } from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import { improbableSchedules } from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { backupController } from '../../src/operator/wiring/backups.ts';
import { restoreController } from '../../src/operator/wiring/restores.ts';
import { scheduleController } from '../../src/operator/wiring/schedules.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { SimulatedApi } from './simulated-api.ts';

const metadata = { name: 'r', namespace: 'n' };
const s3 = { path: 'bucket/db', awsSecret: 'aws' };
const backup = {
  source: { clusterURL: 'http://db:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db', credentialsSecret: 'aws' },
};

const shared = (api: SimulatedApi, onMemories: (count: () => Readonly<Record<string, number>>) => void) => ({
  ...{ client: api.client, namespace: 'home', scope: 'n', isOurs: () => true, leads: undefined, identity: 'us' },
  ...{ image: { name: 'etcd-operator' }, log: pino({ level: 'silent' }), onFailure: () => undefined },
  ...{ onOutcome: () => undefined, onMemories, dialerTo: undefined, onCache: () => undefined },
  ...{ operators: { namespace: 'home', secret: undefined, serviceAccountName: undefined, urls: [] } },
});

type Parts = ReturnType<typeof shared>;

const kinds: Readonly<Record<string, { readonly object: object; readonly run: (parts: Parts) => Runnable }>> = {
  etcdbackups: {
    object: { kind: 'EtcdBackup', metadata, spec: { etcdEndpoints: ['http://db:2379'], storageType: 'S3', s3 } },
    run: (parts) => backupController({ ...parts, dialect: coreosBackups, clusters: coreos }),
  },
  etcdrestores: {
    object: { kind: 'EtcdRestore', metadata, spec: { etcdCluster: { name: 'db' }, backupStorageType: 'S3', s3 } },
    run: (parts) =>
      restoreController({ name: 'coreos', dialect: coreos }, { ...parts, dialects: [], mayWriteSecrets: true }),
  },
  etcdbackupschedules: {
    object: { kind: 'EtcdBackupSchedule', metadata, spec: { schedule: '@every 1h', backupTemplate: backup } },
    run: (parts) =>
      scheduleController({
        ...{ ...parts, dialect: improbableSchedules, backups: improbableBackups },
        onSchedules: () => undefined,
      }),
  },
};

const sum = (sizes: Readonly<Record<string, number>>): number => Object.values(sizes).reduce((a, b) => a + b, 0);

describe.each(Object.entries(kinds))('memory entries of %s', (plural, { object, run }) => {
  it('are dropped when the object is deleted', async () => {
    const api = new SimulatedApi();
    const stop = new AbortController();
    let count = (): Readonly<Record<string, number>> => ({});
    const running = run(shared(api, (counting) => (count = counting)))(stop.signal);
    api.put(plural, object);
    await expect.poll(() => sum(count())).toBeGreaterThan(1);
    await expect.poll(() => api.requests).toContain(`patch ${plural}`);
    api.deleteObject(plural, 'n/r');
    await expect.poll(() => sum(count())).toBe(0);
    stop.abort();
    await running;
  });
});
