import { z } from 'zod';
import type { BackupIntent, BackupMemory, BackupSource, BackupTimes } from '../../core/backup/model.ts';
import { outcomeOf } from '../../core/backup/status.ts';
import type { BackupDialect, ReadBackup } from '../common/backup-dialect.ts';
import { eventsOfWarnings } from '../common/backup-warnings.ts';
import { timetableIn } from '../common/schedule-settings.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../common/schema/definition.ts';
import { metadataWith } from '../common/schema/metadata.ts';
import { readerOf } from '../common/schema/reading.ts';
import { begunAt } from '../common/status/run-start.ts';
import { type EtcdBackupSpec, etcdBackupSpec } from './backup-spec.ts';
import {
  etcdBackupStatus,
  figuresOf,
  storedBackupStatus,
  writeBackupProblems,
  writeBackupStatus,
} from './backup-status.ts';
import { group, version } from './intent.ts';
import { placeOf } from './store-spec.ts';

const etcdBackup = z.object({
  metadata: metadataWith([]),
  spec: etcdBackupSpec,
  status: storedBackupStatus.default({}),
});
type EtcdBackupResource = z.output<typeof etcdBackup>;

const translate = (resource: EtcdBackupResource): ReadBackup => {
  const { name, uid } = resource.metadata;
  return {
    intent: intentOf(resource),
    memory: memoryOf(resource),
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdBackup', name, uid, controller: true },
  };
};

const defaultTimeout = 60;

function intentOf({ metadata, spec }: EtcdBackupResource): BackupIntent {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const createdAt = Date.parse(creationTimestamp ?? '') || 0;
  return {
    name,
    namespace,
    uid,
    createdAt,
    source: sourceOf(spec),
    store: placeOf(spec.storageType, spec),
    credentials: 'own',
    keptFor: undefined,
    serviceAccountName: spec.serviceAccountName,
    ...policyOf(spec.backupPolicy ?? {}),
    times: timesOf(spec.backupPolicy ?? {}, createdAt),
  };
}

type Policy = NonNullable<EtcdBackupSpec['backupPolicy']>;

/** 0 means unset, as in the original. */
const policyOf = ({ timeoutInSecond = 0, ...policy }: Policy) => ({
  timeoutSeconds: timeoutInSecond > 0 ? timeoutInSecond : defaultTimeout,
  paused: policy.suspend === true,
  keep: { count: policy.maxBackups || undefined, ageSeconds: policy.maxAgeInSecond || undefined },
  compression: policy.compression ?? ('none' as const),
});

function timesOf(
  { schedule, timeZone, backupIntervalInSecond: interval, startingDeadlineSeconds }: Policy,
  createdAt: number,
): BackupTimes | undefined {
  if (schedule === undefined && !interval) return undefined;
  const timetable = timetableIn({ schedule: schedule ?? `@every ${interval}s`, timeZone }, createdAt);
  return { timetable, startsAtOnce: schedule === undefined, startingDeadlineSeconds };
}

/** Endpoints may lack a scheme, as in the original: https with a TLS Secret, http without. */
function sourceOf({ etcdCluster, etcdEndpoints = [], clientTLSSecret }: EtcdBackupSpec): BackupSource {
  if (etcdCluster !== undefined) return { cluster: etcdCluster.name };
  const scheme = clientTLSSecret ? 'https://' : 'http://';
  const endpoints = etcdEndpoints.map((written) => (written.includes('://') ? written : `${scheme}${written}`));
  return { endpoints, tlsSecret: clientTLSSecret || undefined };
}

/** A status without conditions is from the original, which never repeats a one-time backup with a status. */
function memoryOf({ status }: Pick<EtcdBackupResource, 'status'>): BackupMemory {
  const { lastScheduleTime, conditions, succeeded, Reason, failures = 0 } = status;
  const isFromOriginal = conditions === undefined && (succeeded === true || Boolean(Reason));
  const lastSlot = Date.parse(lastScheduleTime ?? '');
  const hasRun = !Number.isNaN(lastSlot);
  const isFinished = hasRun || isFromOriginal;
  return { isFinished, lastSlot: hasRun ? lastSlot : undefined, begunAt: begunAt(status), failures };
}

interface WithPolicy {
  readonly backupPolicy?: Partial<Policy> | null;
}

/** A periodic backup never ends. */
const isOver: BackupDialect['isOver'] = ({ spec, status }) => {
  const { schedule, backupIntervalInSecond: interval } = (spec as WithPolicy | undefined)?.backupPolicy ?? {};
  return schedule === undefined && !interval && memoryOf({ status: storedBackupStatus.parse(status ?? {}) }).isFinished;
};

export const coreosBackups: BackupDialect = {
  group,
  version,
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  oldFinalizer: 'backup-operator-periodic',
  read: readerOf(etcdBackup, translate),
  isOver,
  writeStatus: writeBackupStatus,
  writeProblems: writeBackupProblems,
  eventsOfStart: () => [],
  eventsOfEnd: (report) => [
    { type: report.ok ? 'Normal' : 'Warning', reason: outcomeOf(report), message: report.message },
    ...eventsOfWarnings(report),
  ],
  figures: figuresOf,
};

const columns: readonly Column[] = [
  {
    name: 'Succeeded',
    type: 'boolean',
    jsonPath: '.status.succeeded',
    description: 'true if the last backup was successful',
  },
  { name: 'Last success', type: 'date', jsonPath: '.status.lastSuccessDate' },
  {
    name: 'Revision',
    type: 'integer',
    jsonPath: '.status.etcdRevision',
    description: 'revision of the last successful backup',
  },
  { name: 'Version', type: 'string', jsonPath: '.status.etcdVersion' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Bytes', type: 'integer', jsonPath: '.status.lastBackup.sizeBytes', priority: 1 },
  { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleTime', priority: 1 },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.Reason',
    description: 'why the last backup failed',
    priority: 1,
  },
];

const etcdBackupKind: Kind = {
  group,
  version,
  kind: 'EtcdBackup',
  shortNames: [],
  description: 'EtcdBackup backs up an etcd cluster, once or periodically, to an object store or a volume.',
  nameRules: [],
  spec: etcdBackupSpec,
  status: etcdBackupStatus,
  columns,
};

export const etcdBackupSchema = () => schemaOf(etcdBackupKind);
export const etcdBackupCrd = () => definitionOf(etcdBackupKind);
