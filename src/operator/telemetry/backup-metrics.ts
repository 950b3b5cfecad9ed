import { Counter, Gauge, type Registry } from 'prom-client';
import type { BackupDialect, BackupFigures } from '../../apis/common/backup-dialect.ts';
import type { ScheduleDialect } from '../../apis/common/schedule-dialect.ts';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import type { Store } from '../../runtime/store.ts';
import type { Log } from './log.ts';

const labelNames = ['api', 'namespace', 'name'] as const;

export interface BackupMetrics {
  readonly onCache: (dialect: Pick<BackupDialect, 'group' | 'figures'>, declared: Store<ClusterObject>) => void;
  /** The same for schedules. */
  readonly onSchedules: (dialect: ScheduleDialect, declared: Store<ClusterObject>) => void;
  readonly onOutcome: (key: string, outcome: Outcome) => void;
}

/** Metrics for alerts on backups: time, size and duration of the last success, and failures since. */
export function backupMetrics(register: Registry, log: Log): BackupMetrics {
  const failures = new Counter({
    name: 'etcd_operator_backup_reconcile_failed',
    help: 'Failed reconciliations of backups, by kind of failure.',
    labelNames: ['reason'],
    registers: [register],
  });
  const backups: CachedBackups = [];
  const schedules: CachedBackups = [];
  addGauge(register, { ...ofSchedules, cached: schedules });
  for (const [name, { help, read }] of Object.entries(gauges))
    addGauge(register, { name, help, read, cached: backups });
  return {
    onCache: (dialect, declared) => void backups.push([dialect, declared]),
    onSchedules: ({ group, lastSuccessAt }, declared) => {
      const figures = (status: unknown): BackupFigures => ({ lastSuccessAt: lastSuccessAt(status) });
      schedules.push([{ group, figures }, declared]);
    },
    onOutcome: (key, outcome) => {
      if (outcome.is !== 'failed') return;
      failures.inc({ reason: outcome.failure.kind });
      log.warn({ backup: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'reconciliation failed');
    },
  };
}

/** Counts failed reconciliations of restores. */
export function restoreMetrics(register: Registry, log: Log): BackupMetrics['onOutcome'] {
  const failures = new Counter({
    name: 'etcd_operator_restore_reconcile_failed',
    help: 'Failed reconciliations of restores, by kind of failure.',
    labelNames: ['reason'],
    registers: [register],
  });
  return (key, outcome) => {
    if (outcome.is !== 'failed') return;
    failures.inc({ reason: outcome.failure.kind });
    log.warn({ restore: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'reconciliation failed');
  };
}

type Read = (figures: BackupFigures) => number | undefined;
/** The caches of backups, one per API and place. */
type CachedBackups = (readonly [Pick<BackupDialect, 'group' | 'figures'>, Store<ClusterObject>])[];

const lastSuccess: Read = ({ lastSuccessAt }) => (lastSuccessAt === undefined ? undefined : lastSuccessAt / 1000);

const ofSchedules = {
  name: 'etcd_operator_backup_schedule_last_success_timestamp_seconds',
  help: 'Scheduled time of the last successful backup of a schedule, in seconds since 1970.',
  read: lastSuccess,
} as const;

const gauges: Readonly<Record<string, { readonly help: string; readonly read: Read }>> = {
  etcd_operator_backup_last_success_timestamp_seconds: {
    help: 'Start of the last successful backup, in seconds since 1970.',
    read: lastSuccess,
  },
  etcd_operator_backup_size_bytes: {
    help: 'Size of the last successful backup in the store.',
    read: ({ sizeBytes }) => sizeBytes,
  },
  etcd_operator_backup_duration_seconds: {
    help: 'Duration of the last successful backup.',
    read: ({ seconds }) => seconds,
  },
  etcd_operator_backup_failures: {
    help: 'Failed backups since the last successful one.',
    read: ({ failures }) => failures,
  },
};

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly read: Read;
  readonly cached: CachedBackups;
}

function addGauge(register: Registry, { name, help, read, cached }: GaugeOptions): void {
  void new Gauge({
    name,
    help,
    labelNames,
    registers: [register],
    collect() {
      this.reset();
      for (const { api, metadata, figures } of figuresOf(cached)) {
        const value = read(figures);
        if (typeof value === 'number')
          this.set({ api, namespace: metadata.namespace ?? '', name: metadata.name }, value);
      }
    },
  });
}

const figuresOf = (cached: CachedBackups) =>
  cached.flatMap(([{ group: api, figures }, declared]) =>
    declared.all().map(({ metadata, status }) => ({ api, metadata, figures: figures(status) })),
  );
