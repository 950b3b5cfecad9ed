import { z } from 'zod';
import type { BackupIntent, BackupMemory, BackupSource } from '../../core/model/backup.ts';
import type { BackupDialect, ReadBackup } from '../backup-dialect.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { metadataWith } from '../metadata.ts';
import type { Parsed } from '../parsed.ts';
import { problemsOf, withoutNulls } from '../reading.ts';
import { type EtcdBackupSpec, etcdBackupSpec } from './backup-spec.ts';
import { etcdBackupStatus, foundBackupStatus, writeBackupProblems, writeBackupStatus } from './backup-status.ts';
import { group, version } from './intent.ts';
import { placeOf } from './store-spec.ts';

const etcdBackup = z.object({
  metadata: metadataWith([]),
  spec: etcdBackupSpec,
  status: foundBackupStatus.default({}),
});
type EtcdBackupResource = z.output<typeof etcdBackup>;

/** Reads whatever the API server has stored under the name of an EtcdBackup. Never throws. */
function read(raw: unknown): Parsed<ReadBackup> {
  const parsed = etcdBackup.safeParse(withoutNulls(raw), { reportInput: true });
  return parsed.success
    ? { ok: true, value: translate(parsed.data) }
    : { ok: false, problems: problemsOf(parsed.error) };
}

const translate = (resource: EtcdBackupResource): ReadBackup => {
  const { name, uid } = resource.metadata;
  return {
    intent: intentOf(resource),
    memory: memoryOf(resource),
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdBackup', name, uid, controller: true },
  };
};

const usualTimeout = 60;

const intentOf = ({ metadata, spec }: EtcdBackupResource): BackupIntent => ({
  ...{ name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
  createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
  source: sourceOf(spec),
  store: placeOf(spec.storageType, spec),
  serviceAccountName: spec.serviceAccountName,
  ...policyOf(spec.backupPolicy ?? {}),
});

type Policy = NonNullable<EtcdBackupSpec['backupPolicy']>;

/** Nought means "not said", as in the original. */
const policyOf = ({ timeoutInSecond = 0, ...policy }: Policy) => ({
  timeoutSeconds: timeoutInSecond > 0 ? timeoutInSecond : usualTimeout,
  intervalSeconds: policy.backupIntervalInSecond || undefined,
  paused: policy.suspend === true,
  keep: { count: policy.maxBackups || undefined, ageSeconds: policy.maxAgeInSecond || undefined },
  compression: policy.compression ?? ('none' as const),
});

/** The original's clients take endpoints without a scheme; then whether there is a Secret for TLS tells which one it is. */
function sourceOf({ etcdCluster, etcdEndpoints = [], clientTLSSecret }: EtcdBackupSpec): BackupSource {
  if (etcdCluster !== undefined) return { cluster: etcdCluster.name };
  const scheme = clientTLSSecret ? 'https://' : 'http://';
  const endpoints = etcdEndpoints.map((written) => (written.includes('://') ? written : `${scheme}${written}`));
  return { endpoints, tlsSecret: clientTLSSecret || undefined };
}

/** The original knows no conditions, and of a backup that is made once it never makes another when its status says anything. */
function memoryOf({ status }: EtcdBackupResource): BackupMemory {
  const { lastScheduleTime, conditions, succeeded, Reason, failures = 0 } = status;
  const isFromOriginal = conditions === undefined && (succeeded === true || Boolean(Reason));
  const lastSlot = Date.parse(lastScheduleTime ?? '');
  const hasRun = !Number.isNaN(lastSlot);
  return { isFinished: hasRun || isFromOriginal, lastSlot: hasRun ? lastSlot : undefined, failures };
}

export const coreosBackups: BackupDialect = {
  group,
  version,
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  oldFinalizer: 'backup-operator-periodic',
  read,
  writeStatus: writeBackupStatus,
  writeProblems: writeBackupProblems,
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
