import { z } from 'zod';
import type { RestoreMemory, RestorePhase } from '../../core/model/restore.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { serviceAccountName } from '../member-settings.ts';
import { metadataWith } from '../metadata.ts';
import { readerOf } from '../reading.ts';
import type { Counts, NewMemory, ReadRestore, RestoreDialect } from '../restore-dialect.ts';
import { revisionBump, sameCluster } from '../restore-settings.ts';
import { phaseOfStage } from '../restore-status.ts';
import { changing, looksLike, ruled, text } from '../rule.ts';
import { group, holdAnnotation, version } from './intent.ts';
import {
  type EtcdRestoreStatus,
  etcdRestoreStatus,
  foundRestoreStatus,
  writeRestoreProblems,
  writeRestoreStatus,
} from './restore-status.ts';
import { foundStatus } from './status.ts';
import { placeOf, storageTypes, storeFields, storeIsNamed } from './store-spec.ts';

const etcdRestoreSpec = ruled(
  z.object({
    etcdCluster: z
      .object({
        name: changing(
          ruled(text(253), looksLike(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of an EtcdCluster')),
          sameCluster,
        ),
        create: z
          .enum(['Never', 'FromBackup'])
          .default('Never')
          .describe(
            'FromBackup: the EtcdCluster is made, with the spec that it had when it was saved; there must be none of that ' +
              'name. For backups that named their EtcdCluster, under its old name or another.',
          ),
      })
      .describe('The EtcdCluster of this namespace that gets the data of the backup, and loses what it has.'),
    backupStorageType: z
      .enum(storageTypes)
      .describe('Kind of store; the field of the same name in small letters says where.'),
    revisionBump: revisionBump.optional(),
    serviceAccountName: serviceAccountName
      .optional()
      .describe('Account of the pod that reads the backup, for a workload identity. Its token is not mounted by us.'),
    ...storeFields,
  }),
  ...storeIsNamed('backupStorageType'),
);

const etcdRestore = z.object({
  metadata: metadataWith([]),
  spec: etcdRestoreSpec,
  status: foundRestoreStatus.default({}),
});
type EtcdRestoreResource = z.output<typeof etcdRestore>;

function translate(resource: EtcdRestoreResource): ReadRestore {
  const { metadata, spec } = resource;
  const { name, namespace, uid, creationTimestamp } = metadata;
  return {
    intent: {
      ...{ name, namespace, uid, createdAt: Date.parse(creationTimestamp ?? '') || 0 },
      cluster: spec.etcdCluster.name,
      into: spec.etcdCluster.create === 'FromBackup' ? 'new' : 'existing',
      store: placeOf(spec.backupStorageType, spec),
      credentials: 'own',
      serviceAccountName: spec.serviceAccountName,
      revisionBump: spec.revisionBump || undefined,
    },
    memory: memoryOf(resource),
    template: spec.etcdCluster.create === 'FromBackup' ? 'in-backup' : undefined,
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdRestore', name, uid, controller: true },
  };
}

function memoryOf({ metadata, status }: EtcdRestoreResource): RestoreMemory {
  const { phaseSince, seedMember, clusterId } = status;
  const since = Date.parse(phaseSince ?? metadata.creationTimestamp ?? '') || 0;
  return { phase: phaseOfOriginal(status) ?? phaseOfStage(status.phase), since, seed: seedMember, clusterId };
}

/** The original knows no phases, and does nothing for a restore whose status says anything. */
function phaseOfOriginal({ phase, conditions, succeeded, reason }: EtcdRestoreStatus): RestorePhase | undefined {
  if (phase !== undefined || conditions !== undefined) return undefined;
  if (succeeded === true) return 'complete';
  return reason ? 'failed' : undefined;
}

/** All that is known of the members is that there is one. */
function rewriteMemory(previous: unknown, { seed, token, clusterId, version: runs }: NewMemory): object {
  const before = foundStatus.parse(previous ?? {});
  return {
    ...before,
    clusterId,
    currentVersion: runs,
    bootstrap: { members: [seed], token },
    memberStatus: [{ name: seed, role: 'voter' }],
  };
}

const describedByHand = (cluster: string): string =>
  `create EtcdCluster "${cluster}" with the size and version it is to have, and restore into that`;

function countsIn(status: object): Counts {
  const { readyMembers: ready, size } = foundStatus.parse(status);
  return { ready, size };
}

export const coreosRestores: RestoreDialect = {
  group,
  version,
  plural: 'etcdrestores',
  kind: 'EtcdRestore',
  holdAnnotation,
  read: readerOf(etcdRestore, translate),
  describedByHand,
  writeStatus: writeRestoreStatus,
  writeProblems: writeRestoreProblems,
  countsIn,
  rewriteMemory,
};

const columns: readonly Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.etcdCluster.name' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Succeeded', type: 'boolean', jsonPath: '.status.succeeded' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why it failed', priority: 1 },
];

const etcdRestoreKind: Kind = {
  group,
  version,
  kind: 'EtcdRestore',
  shortNames: [],
  description: 'Gives an etcd cluster the data of a backup, in place of what it has, or makes one of it.',
  nameRules: [],
  spec: etcdRestoreSpec,
  status: etcdRestoreStatus,
  columns,
};

export const etcdRestoreSchema = () => schemaOf(etcdRestoreKind);
export const etcdRestoreCrd = () => definitionOf(etcdRestoreKind);
