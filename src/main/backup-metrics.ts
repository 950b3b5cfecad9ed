import { Counter, Gauge, type Registry } from 'prom-client';
import type { ClusterObject } from '../controllers/cluster/sources.ts';
import type { BackupDialect, BackupFigures } from '../dialects/backup-dialect.ts';
import type { ScheduleDialect } from '../dialects/schedule-dialect.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { Store } from '../runtime/store.ts';
import type { Log } from './log.ts';

const labelNames = ['api', 'namespace', 'name'] as const;

export interface BackupMetrics {
  readonly onCache: (dialect: Pick<BackupDialect, 'group' | 'figures'>, declared: Store<ClusterObject>) => void;
  /** The same of schedules. */
  readonly onSchedules: (dialect: ScheduleDialect, declared: Store<ClusterObject>) => void;
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
  const [shelves, schedules]: readonly [Shelves, Shelves] = [[], []];
  showGauge(register, { ...ofSchedules, shelves: schedules });
  for (const [name, { help, read }] of Object.entries(gauges)) showGauge(register, { name, help, read, shelves });
  return {
    onCache: (dialect, declared) => void shelves.push([dialect, declared]),
    onSchedules: ({ group, lastSuccessAt }, declared) => {
      const figures = (status: unknown): BackupFigures => ({ lastSuccessAt: lastSuccessAt(status) });
      schedules.push([{ group, figures }, declared]);
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

type Read = (figures: BackupFigures) => number | undefined;
/** The backups of each API, in each place. */
type Shelves = (readonly [Pick<BackupDialect, 'group' | 'figures'>, Store<ClusterObject>])[];

const lastSuccess: Read = ({ lastSuccessAt }) => (lastSuccessAt === undefined ? undefined : lastSuccessAt / 1000);

const ofSchedules = {
  name: 'etcd_operator_backup_schedule_last_success_timestamp_seconds',
  help: 'For which time the last good backup of a schedule was made, in seconds since 1970.',
  read: lastSuccess,
} as const;

const gauges: Readonly<Record<string, { readonly help: string; readonly read: Read }>> = {
  etcd_operator_backup_last_success_timestamp_seconds: {
    help: 'When the last good backup was begun, in seconds since 1970.',
    read: lastSuccess,
  },
  etcd_operator_backup_size_bytes: {
    help: 'Size of the last good backup, as it is stored.',
    read: ({ sizeBytes }) => sizeBytes,
  },
  etcd_operator_backup_duration_seconds: {
    help: 'How long the last good backup took.',
    read: ({ seconds }) => seconds,
  },
  etcd_operator_backup_failures: {
    help: 'Backups that have failed since the last good one.',
    read: ({ failures }) => failures,
  },
};

interface Shown {
  readonly name: string;
  readonly help: string;
  readonly read: Read;
  readonly shelves: Shelves;
}

function showGauge(register: Registry, { name, help, read, shelves }: Shown): void {
  void new Gauge({
    ...{ name, help, labelNames, registers: [register] },
    collect() {
      this.reset();
      for (const { api, metadata, figures } of figuresOn(shelves)) {
        const value = read(figures);
        if (typeof value === 'number')
          this.set({ api, namespace: metadata.namespace ?? '', name: metadata.name }, value);
      }
    },
  });
}

const figuresOn = (shelves: Shelves) =>
  shelves.flatMap(([{ group: api, figures }, declared]) =>
    declared.all().map(({ metadata, status }) => ({ api, metadata, figures: figures(status) })),
  );
