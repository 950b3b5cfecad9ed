import { z } from 'zod';
import type { BackupIntent, BackupMemory, BackupSource, BackupTimes } from '../../core/model/backup.ts';
import { outcomeOf } from '../../core/status/backup-status.ts';
import type { BackupDialect, ReadBackup } from '../backup-dialect.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { tellDoubts } from '../doubts.ts';
import { metadataWith } from '../metadata.ts';
import { readerOf } from '../reading.ts';
import { begunAt } from '../run-start.ts';
import { timetableIn } from '../schedule-settings.ts';
import { type EtcdBackupSpec, etcdBackupSpec } from './backup-spec.ts';
import {
  etcdBackupStatus,
  figuresOf,
  foundBackupStatus,
  writeBackupProblems,
  writeBackupStatus,
} from './backup-status.ts';
import { group, version } from './intent.ts';
import { placeOf } from './store-spec.ts';

const etcdBackup = z.object({
  metadata: metadataWith([]),
  spec: etcdBackupSpec,
  status: foundBackupStatus.default({}),
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

const usualTimeout = 60;

function intentOf({ metadata, spec }: EtcdBackupResource): BackupIntent {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const createdAt = Date.parse(creationTimestamp ?? '') || 0;
  return {
    ...{ name, namespace, uid, createdAt },
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

/** Nought means "not said", as in the original. */
const policyOf = ({ timeoutInSecond = 0, ...policy }: Policy) => ({
  timeoutSeconds: timeoutInSecond > 0 ? timeoutInSecond : usualTimeout,
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

/** The original's clients take endpoints without a scheme; then whether there is a Secret for TLS tells which one it is. */
function sourceOf({ etcdCluster, etcdEndpoints = [], clientTLSSecret }: EtcdBackupSpec): BackupSource {
  if (etcdCluster !== undefined) return { cluster: etcdCluster.name };
  const scheme = clientTLSSecret ? 'https://' : 'http://';
  const endpoints = etcdEndpoints.map((written) => (written.includes('://') ? written : `${scheme}${written}`));
  return { endpoints, tlsSecret: clientTLSSecret || undefined };
}

/** The original knows no conditions, and of a backup that is made once it never makes another when its status says anything. */
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

/** One that is made again and again is never over. */
const isOver: BackupDialect['isOver'] = ({ spec, status }) => {
  const { schedule, backupIntervalInSecond: interval } = (spec as WithPolicy | undefined)?.backupPolicy ?? {};
  return schedule === undefined && !interval && memoryOf({ status: foundBackupStatus.parse(status ?? {}) }).isFinished;
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
  tellStart: () => [],
  tellEnd: (report) => [
    { type: report.ok ? 'Normal' : 'Warning', reason: outcomeOf(report), message: report.message },
    ...tellDoubts(report),
  ],
  figures: figuresOf,
};

const columns: readonly Column[] = [
  {
    name: 'Succeeded',
    type: 'boolean',
    jsonPath: '.status.succeeded',
    description: 'whether the last backup went well',
  },
  { name: 'Last success', type: 'date', jsonPath: '.status.lastSuccessDate' },
  {
    name: 'Revision',
    type: 'integer',
    jsonPath: '.status.etcdRevision',
    description: 'revision of the last good backup',
  },
  { name: 'Version', type: 'string', jsonPath: '.status.etcdVersion' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Bytes', type: 'integer', jsonPath: '.status.lastBackup.sizeBytes', priority: 1 },
  { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleTime', priority: 1 },
  { name: 'Reason', type: 'string', jsonPath: '.status.Reason', description: 'why it failed', priority: 1 },
];

const etcdBackupKind: Kind = {
  group,
  version,
  kind: 'EtcdBackup',
  shortNames: [],
  description: 'A backup of an etcd cluster, once or again and again, in an object store or on a volume.',
  nameRules: [],
  spec: etcdBackupSpec,
  status: etcdBackupStatus,
  columns,
};

export const etcdBackupSchema = () => schemaOf(etcdBackupKind);
export const etcdBackupCrd = () => definitionOf(etcdBackupKind);
