import { z } from 'zod';
import type { RestoreMemory, RestorePhase } from '../../core/restore/model.ts';
import { serviceAccountName } from '../common/member-settings.ts';
import type { Counts, NewMemory, ReadRestore, RestoreDialect } from '../common/restore-dialect.ts';
import { immutableCluster, revisionBump } from '../common/restore-settings.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../common/schema/definition.ts';
import { metadataWith } from '../common/schema/metadata.ts';
import { readerOf } from '../common/schema/reading.ts';
import { looksLike, text, withRules, withTransitionRules } from '../common/schema/rule.ts';
import { phaseOfStage } from '../common/status/restore-status.ts';
import { group, holdAnnotation, version } from './intent.ts';
import {
  type EtcdRestoreStatus,
  etcdRestoreStatus,
  storedRestoreStatus,
  writeRestoreProblems,
  writeRestoreStatus,
} from './restore-status.ts';
import { storedStatusOf } from './status.ts';
import { placeOf, storageTypes, storeFields, storeIsNamed } from './store-spec.ts';

const etcdRestoreSpec = withRules(
  z.object({
    etcdCluster: z
      .object({
        name: withTransitionRules(
          withRules(text(253), looksLike(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of an EtcdCluster')),
          immutableCluster,
        ),
        create: z
          .enum(['Never', 'FromBackup'])
          .default('Never')
          .describe(
            'create is Never, the default, or FromBackup: the EtcdCluster is created with the spec that was saved in the backup. ' +
              'No EtcdCluster of that name may exist. The backup must have named its EtcdCluster.',
          ),
      })
      .describe(
        'etcdCluster is the EtcdCluster in this namespace that gets the data of the backup. Its current data is lost.',
      ),
    backupStorageType: z
      .enum(storageTypes)
      .describe('backupStorageType is the kind of store. The field with the same name in lower case has its settings.'),
    revisionBump: revisionBump.optional(),
    serviceAccountName: serviceAccountName
      .optional()
      .describe(
        'serviceAccountName is the ServiceAccount of the pod that reads the backup, for a workload identity. The operator does not mount its token.',
      ),
    ...storeFields,
  }),
  ...storeIsNamed('backupStorageType'),
);

const etcdRestore = z.object({
  metadata: metadataWith([]),
  spec: etcdRestoreSpec,
  status: storedRestoreStatus.default({}),
});
type EtcdRestoreResource = z.output<typeof etcdRestore>;

function translate(resource: EtcdRestoreResource): ReadRestore {
  const { metadata, spec } = resource;
  const { name, namespace, uid, creationTimestamp } = metadata;
  return {
    intent: {
      name,
      namespace,
      uid,
      createdAt: Date.parse(creationTimestamp ?? '') || 0,
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

/** A status without phase is from the original, which ignores a restore with a status. */
function phaseOfOriginal({ phase, conditions, succeeded, reason }: EtcdRestoreStatus): RestorePhase | undefined {
  if (phase !== undefined || conditions !== undefined) return undefined;
  if (succeeded === true) return 'complete';
  return reason ? 'failed' : undefined;
}

/** After the switch the seed is the only known member. */
function rewriteMemory(previous: unknown, { seed, token, clusterId, version: runs }: NewMemory): object {
  const before = storedStatusOf(previous);
  return {
    ...before,
    clusterId,
    currentVersion: runs,
    bootstrap: { members: [seed], token },
    memberStatus: [{ name: seed, role: 'voter' }],
  };
}

const manualRestoreHint = (cluster: string): string =>
  `create EtcdCluster "${cluster}" with its size and version, and restore into it`;

function countsIn(status: object): Counts {
  const { readyMembers: ready, size } = storedStatusOf(status);
  return { ready, size };
}

export const coreosRestores: RestoreDialect = {
  group,
  version,
  plural: 'etcdrestores',
  kind: 'EtcdRestore',
  holdAnnotation,
  read: readerOf(etcdRestore, translate),
  manualRestoreHint,
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
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why the restore failed', priority: 1 },
];

const etcdRestoreKind: Kind = {
  group,
  version,
  kind: 'EtcdRestore',
  shortNames: [],
  description: 'EtcdRestore replaces the data of an etcd cluster with a backup, or creates a cluster from it.',
  nameRules: [],
  spec: etcdRestoreSpec,
  status: etcdRestoreStatus,
  columns,
};

export const etcdRestoreSchema = () => schemaOf(etcdRestoreKind);
export const etcdRestoreCrd = () => definitionOf(etcdRestoreKind);
