import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { coreosBackups } from '../../apis/coreos-v1beta2/backup.ts';
import { improbableBackups } from '../../apis/improbable-v1alpha1/backup/backup.ts';
import { improbableSchedules } from '../../apis/improbable-v1alpha1/backup/schedule.ts';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import { Store } from '../../runtime/store.ts';
import { backupMetrics } from './backup-metrics.ts';
import { makeLog } from './log.ts';

function shelfWith(status: object): Store<ClusterObject> {
  const store = new Store<ClusterObject>({ onHandlerFailure: () => undefined });
  const metadata = { name: 'db', namespace: 'foo', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  store.put({ apiVersion: '', kind: '', metadata, status });
  return store;
}

it('metrics of backups have a label for the API, and include schedules', async () => {
  const register = new Registry();
  const { onCache, onSchedules } = backupMetrics(register, makeLog('error', 'json'));
  const time = '1970-01-01T00:01:00Z';
  onCache(coreosBackups, shelfWith({ lastSuccessDate: time, failures: 2 }));
  onCache(improbableBackups, shelfWith({ phase: 'Completed', startTime: time, sizeBytes: 9, durationSeconds: '1.5' }));
  onSchedules(improbableSchedules, shelfWith({ lastSuccessfulTime: time }));
  const [coreos, improbable] = ['etcd.database.coreos.com', 'etcd.improbable.io'].map(
    (api) => `{api="${api}",namespace="foo",name="db"}`,
  );
  const shown = await register.metrics();
  for (const line of [
    `etcd_operator_backup_last_success_timestamp_seconds${coreos} 60`,
    `etcd_operator_backup_last_success_timestamp_seconds${improbable} 60`,
    `etcd_operator_backup_failures${coreos} 2`,
    `etcd_operator_backup_size_bytes${improbable} 9`,
    `etcd_operator_backup_duration_seconds${improbable} 1.5`,
    `etcd_operator_backup_schedule_last_success_timestamp_seconds${improbable} 60`,
  ])
    expect(shown).toContain(`${line}\n`);
});
