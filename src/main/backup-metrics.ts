import { Counter, Gauge, type Registry } from 'prom-client';
import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { foundBackupStatus } from '../dialects/coreos-v1beta2/backup-status.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { Store } from '../runtime/store.ts';
import type { Log } from './log.ts';

const labelNames = ['namespace', 'name'] as const;

export interface BackupMetrics {
  readonly onCache: (declared: Store<ClusterObject>) => void;
  readonly onOutcome: (key: string, outcome: Outcome) => void;
}

/** What alerts on backups need: when the last good one was begun, its size and duration, and how often it failed since. */
export function backupMetrics(register: Registry, log: Log): BackupMetrics {
  const failures = new Counter({
    name: 'etcd_operator_backup_reconcile_failed',
    help: 'Passes over backups that failed, by the kind of failure.',
    labelNames: ['reason'],
    registers: [register],
  });
  return {
    onCache: (declared) => {
      for (const [name, { help, read }] of Object.entries(gauges)) showGauge(register, { name, help, read, declared });
    },
    onOutcome: (key, outcome) => {
      if (outcome.is !== 'failed') return;
      failures.inc({ reason: outcome.failure.kind });
      log.warn({ backup: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'a pass failed');
    },
  };
}

/** Counts passes over restores that failed. */
export function restoreMetrics(register: Registry, log: Log): BackupMetrics['onOutcome'] {
  const failures = new Counter({
    name: 'etcd_operator_restore_reconcile_failed',
    help: 'Passes over restores that failed, by the kind of failure.',
    labelNames: ['reason'],
    registers: [register],
  });
  return (key, outcome) => {
    if (outcome.is !== 'failed') return;
    failures.inc({ reason: outcome.failure.kind });
    log.warn({ restore: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'a pass failed');
  };
}

type Status = ReturnType<typeof foundBackupStatus.parse>;
type Read = (status: Status) => number | undefined;

const gauges: Readonly<Record<string, { readonly help: string; readonly read: Read }>> = {
  etcd_operator_backup_last_success_timestamp_seconds: {
    help: 'When the last good backup was begun, in seconds since 1970.',
    read: ({ lastSuccessDate }) => secondsOf(lastSuccessDate),
  },
  etcd_operator_backup_size_bytes: {
    help: 'Size of the last good backup, as it is stored.',
    read: ({ lastBackup }) => lastBackup?.sizeBytes,
  },
  etcd_operator_backup_duration_seconds: {
    help: 'How long the last good backup took.',
    read: ({ lastBackup }) =>
      lastBackup?.durationSeconds === undefined ? undefined : Number(lastBackup.durationSeconds),
  },
  etcd_operator_backup_failures: {
    help: 'Backups that have failed since the last good one.',
    read: ({ failures }) => failures,
  },
};

const secondsOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time) / 1000;

interface Shown {
  readonly name: string;
  readonly help: string;
  readonly read: Read;
  readonly declared: Store<ClusterObject>;
}

function showGauge(register: Registry, { name, help, read, declared }: Shown): void {
  void new Gauge({
    ...{ name, help, labelNames, registers: [register] },
    collect() {
      this.reset();
      for (const { metadata, status } of declared.all()) {
        const value = read(foundBackupStatus.parse(status ?? {}));
        if (typeof value === 'number') this.set({ namespace: metadata.namespace ?? '', name: metadata.name }, value);
      }
    },
  });
}
