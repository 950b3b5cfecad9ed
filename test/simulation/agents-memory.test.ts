import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../src/dialects/coreos-v1beta2/backup.ts';
import { coreos } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import { improbableBackups } from '../../src/dialects/improbable-v1alpha1/backup.ts';
import { improbableSchedules } from '../../src/dialects/improbable-v1alpha1/schedule.ts';
import { backupController } from '../../src/main/backups.ts';
import { restoreController } from '../../src/main/restores.ts';
import { scheduleController } from '../../src/main/schedules.ts';
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
  ...{ image: { name: 'etcd-operator' }, log: pino({ level: 'silent' }), onTrouble: () => undefined },
  ...{ onOutcome: () => undefined, onMemories, wayTo: undefined, onCache: () => undefined },
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
      restoreController({ name: 'coreos', dialect: coreos }, { ...parts, dialects: [], keepsSecrets: true }),
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

describe.each(Object.entries(kinds))('what is remembered of %s', (plural, { object, run }) => {
  it('is gone when the object is', async () => {
    const api = new SimulatedApi();
    const stop = new AbortController();
    let count = (): Readonly<Record<string, number>> => ({});
    const running = run(shared(api, (counting) => (count = counting)))(stop.signal);
    api.put(plural, object);
    await expect.poll(() => sum(count())).toBeGreaterThan(1);
    await expect.poll(() => api.asked).toContain(`patch ${plural}`);
    api.vanish(plural, 'n/r');
    await expect.poll(() => sum(count())).toBe(0);
    stop.abort();
    await running;
  });
});
