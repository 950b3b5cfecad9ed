import { z } from 'zod';
import type { AgentReport } from '../../core/model/agent.ts';
import type { BackupIntent, BackupMemory, BackupSource, Keeper } from '../../core/model/backup.ts';
import type { BackupDialect, ReadBackup } from '../backup-dialect.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import type { Told } from '../dialect.ts';
import { tellDoubts } from '../doubts.ts';
import { metadataWith } from '../metadata.ts';
import { readerOf } from '../reading.ts';
import { begunAt } from '../run-start.ts';
import { type EtcdBackupSpec, etcdBackupSpec } from './backup-spec.ts';
import {
  etcdBackupStatus,
  figuresOf,
  foundBackupStatus,
  isOver,
  writeBackupProblems,
  writeBackupStatus,
} from './backup-status.ts';
import { group, version } from './names.ts';

/** Who has a backup made, as the API server knows it. */
const owners = z
  .array(
    z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string(), controller: z.boolean() }),
  )
  .optional()
  .catch(undefined);

const etcdBackup = z.object({
  metadata: metadataWith([]).and(z.object({ ownerReferences: owners })),
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

/** The original's 60 are too few for a large database, and could not be changed. */
const usualTimeout = 600;

const intentOf = ({ metadata, spec }: EtcdBackupResource): BackupIntent => ({
  ...{ name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
  createdAt: createdAt(metadata),
  source: sourceOf(spec),
  store: {
    url: spec.destination.objectURLTemplate,
    words: { ...metadata, creationTimestamp: metadata.creationTimestamp ?? '' },
    field: 'spec.destination.objectURLTemplate',
    secret: spec.destination.credentialsSecret || undefined,
  },
  credentials: credentialsOf(spec),
  serviceAccountName: spec.serviceAccountName,
  keptFor: keeperOf(metadata),
  timeoutSeconds: spec.timeoutSeconds ?? usualTimeout,
  times: undefined,
  paused: false,
  keep: { count: spec.retention?.maxBackups, ageSeconds: spec.retention?.maxAgeSeconds },
  compression: spec.compression ?? 'none',
});

type Metadata = EtcdBackupResource['metadata'];

const createdAt = ({ creationTimestamp }: Metadata): number => Date.parse(creationTimestamp ?? '') || 0;

function keeperOf({ ownerReferences = [] }: Metadata): Keeper | undefined {
  const by = ownerReferences.find(({ kind, controller }) => controller && kind === 'EtcdBackupSchedule');
  return by && { kind: by.kind, name: by.name, uid: by.uid };
}

/** A volume needs none; who names a Secret or an account means those. */
const credentialsOf = ({ destination, serviceAccountName }: EtcdBackupSpec): BackupIntent['credentials'] => {
  const names = destination.credentialsSecret || serviceAccountName;
  return names || destination.objectURLTemplate.startsWith('file:') ? 'own' : 'operators';
};

/** The original's client takes an endpoint without a scheme, too. */
function sourceOf({ source }: EtcdBackupSpec): BackupSource {
  const { clusterURL = '', tlsSecret, credentialsSecret } = source;
  if (source.clusterName !== undefined) return { cluster: source.clusterName };
  const url = clusterURL.includes('://') ? clusterURL : `${tlsSecret ? 'https' : 'http'}://${clusterURL}`;
  return { endpoints: [url], tlsSecret: tlsSecret || undefined, userSecret: credentialsSecret || undefined };
}

function memoryOf({ metadata, status }: EtcdBackupResource): BackupMemory {
  const isFinished = isOver(status);
  const lastSlot = isFinished ? createdAt(metadata) : undefined;
  return { isFinished, lastSlot, begunAt: begunAt(status), failures: 0 };
}

/** The original's reasons; what is behind them is ours. */
const tellEnd = (report: AgentReport): readonly Told[] => [
  report.ok
    ? { type: 'Normal', reason: 'BackupSucceeded', message: `Backup completed successfully: ${report.message}` }
    : { type: 'Warning', reason: 'BackupFailed', message: `Backup failed: ${report.message}` },
  ...tellDoubts(report),
];

export const improbableBackups: BackupDialect = {
  group,
  version,
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  oldFinalizer: undefined,
  speaker: 'etcdbackup-reconciler',
  read: readerOf(etcdBackup, translate),
  isOver: ({ status }) => isOver(foundBackupStatus.parse(status ?? {})),
  writeStatus: writeBackupStatus,
  writeProblems: writeBackupProblems,
  tellStart: (pod) => [{ type: 'Normal', reason: 'SuccessfulCreate', message: `Created Pod: ${pod}` }],
  tellEnd,
  figures: figuresOf,
};

const columns: readonly Column[] = [
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Revision', type: 'integer', jsonPath: '.status.revision', description: 'revision that was saved' },
  { name: 'Version', type: 'string', jsonPath: '.status.etcdVersion' },
  { name: 'Bytes', type: 'integer', jsonPath: '.status.sizeBytes' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'where it is', priority: 1 },
  { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'why it waits or failed', priority: 1 },
];

const etcdBackupKind: Kind = {
  group,
  version,
  kind: 'EtcdBackup',
  shortNames: ['ibackup'],
  description: 'One backup of an etcd cluster, in an object store or on a volume.',
  nameRules: [],
  spec: etcdBackupSpec,
  status: etcdBackupStatus,
  columns,
};

export const etcdBackupSchema = () => schemaOf(etcdBackupKind);
export const etcdBackupCrd = () => definitionOf(etcdBackupKind);
