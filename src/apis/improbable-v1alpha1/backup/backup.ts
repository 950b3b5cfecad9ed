import { z } from 'zod';
import type { AgentReport } from '../../../core/backup/agent.ts';
import type { BackupIntent, BackupMemory, BackupSource, RetentionOwner } from '../../../core/backup/model.ts';
import type { BackupDialect, ReadBackup } from '../../common/backup-dialect.ts';
import { eventsOfWarnings } from '../../common/backup-warnings.ts';
import type { EventContent } from '../../common/dialect.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../../common/schema/definition.ts';
import { metadataWith } from '../../common/schema/metadata.ts';
import { readerOf } from '../../common/schema/reading.ts';
import { begunAt } from '../../common/status/run-start.ts';
import { group, version } from '../names.ts';
import { type EtcdBackupSpec, etcdBackupSpec } from './backup-spec.ts';
import {
  etcdBackupStatus,
  figuresOf,
  hasBackupEnded,
  storedBackupStatus,
  writeBackupProblems,
  writeBackupStatus,
} from './backup-status.ts';

/** The ownerReferences of a backup. */
const owners = z
  .array(
    z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string(), controller: z.boolean() }),
  )
  .optional()
  .catch(undefined);

const etcdBackup = z.object({
  metadata: metadataWith([]).and(z.object({ ownerReferences: owners })),
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

/** The original has a fixed limit of 60 seconds, which is too short for a large database. */
const defaultTimeout = 600;

const intentOf = ({ metadata, spec }: EtcdBackupResource): BackupIntent => ({
  name: metadata.name,
  namespace: metadata.namespace,
  uid: metadata.uid,
  createdAt: createdAt(metadata),
  source: sourceOf(spec),
  store: {
    url: spec.destination.objectURLTemplate,
    values: { ...metadata, creationTimestamp: metadata.creationTimestamp ?? '' },
    field: 'spec.destination.objectURLTemplate',
    secret: spec.destination.credentialsSecret || undefined,
  },
  credentials: credentialsOf(spec),
  serviceAccountName: spec.serviceAccountName,
  keptFor: retentionOwnerOf(metadata),
  timeoutSeconds: spec.timeoutSeconds ?? defaultTimeout,
  times: undefined,
  paused: false,
  keep: { count: spec.retention?.maxBackups, ageSeconds: spec.retention?.maxAgeSeconds },
  compression: spec.compression ?? 'none',
});

type Metadata = EtcdBackupResource['metadata'];

const createdAt = ({ creationTimestamp }: Metadata): number => Date.parse(creationTimestamp ?? '') || 0;

function retentionOwnerOf({ ownerReferences = [] }: Metadata): RetentionOwner | undefined {
  const by = ownerReferences.find(({ kind, controller }) => controller && kind === 'EtcdBackupSchedule');
  return by && { kind: by.kind, name: by.name, uid: by.uid };
}

/** A backup uses its own credentials if it names a Secret or ServiceAccount, or writes to a volume. */
const credentialsOf = ({ destination, serviceAccountName }: EtcdBackupSpec): BackupIntent['credentials'] => {
  const names = destination.credentialsSecret || serviceAccountName;
  return names || destination.objectURLTemplate.startsWith('file:') ? 'own' : 'operators';
};

/** The URL may lack a scheme, as in the original. */
function sourceOf({ source }: EtcdBackupSpec): BackupSource {
  const { clusterURL = '', tlsSecret, credentialsSecret } = source;
  if (source.clusterName !== undefined) return { cluster: source.clusterName };
  const url = clusterURL.includes('://') ? clusterURL : `${tlsSecret ? 'https' : 'http'}://${clusterURL}`;
  return { endpoints: [url], tlsSecret: tlsSecret || undefined, userSecret: credentialsSecret || undefined };
}

function memoryOf({ metadata, status }: EtcdBackupResource): BackupMemory {
  const isFinished = hasBackupEnded(status);
  const lastSlot = isFinished ? createdAt(metadata) : undefined;
  return { isFinished, lastSlot, begunAt: begunAt(status), failures: 0 };
}

/** The original's reasons, with details in the message. */
const eventsOfEnd = (report: AgentReport): readonly EventContent[] => [
  report.ok
    ? { type: 'Normal', reason: 'BackupSucceeded', message: `Backup completed successfully: ${report.message}` }
    : { type: 'Warning', reason: 'BackupFailed', message: `Backup failed: ${report.message}` },
  ...eventsOfWarnings(report),
];

export const improbableBackups: BackupDialect = {
  group,
  version,
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  oldFinalizer: undefined,
  eventSource: 'etcdbackup-reconciler',
  read: readerOf(etcdBackup, translate),
  isOver: ({ status }) => hasBackupEnded(storedBackupStatus.parse(status ?? {})),
  writeStatus: writeBackupStatus,
  writeProblems: writeBackupProblems,
  eventsOfStart: (pod) => [{ type: 'Normal', reason: 'SuccessfulCreate', message: `Created Pod: ${pod}` }],
  eventsOfEnd,
  figures: figuresOf,
};

const columns: readonly Column[] = [
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Revision', type: 'integer', jsonPath: '.status.revision', description: 'revision of the snapshot' },
  { name: 'Version', type: 'string', jsonPath: '.status.etcdVersion' },
  { name: 'Bytes', type: 'integer', jsonPath: '.status.sizeBytes' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'URL of the snapshot', priority: 1 },
  {
    name: 'Message',
    type: 'string',
    jsonPath: '.status.message',
    description: 'what the backup waits for, or why it failed',
    priority: 1,
  },
];

const etcdBackupKind: Kind = {
  group,
  version,
  kind: 'EtcdBackup',
  shortNames: ['ibackup'],
  description: 'EtcdBackup is one backup of an etcd cluster, to an object store or a volume.',
  nameRules: [],
  spec: etcdBackupSpec,
  status: etcdBackupStatus,
  columns,
};

export const etcdBackupSchema = () => schemaOf(etcdBackupKind);
export const etcdBackupCrd = () => definitionOf(etcdBackupKind);
