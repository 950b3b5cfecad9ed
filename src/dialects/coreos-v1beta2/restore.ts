import { z } from 'zod';
import type { RestoreMemory, RestorePhase } from '../../core/model/restore.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { serviceAccountName } from '../member-settings.ts';
import { metadataWith } from '../metadata.ts';
import type { Parsed } from '../parsed.ts';
import { problemsOf, withoutNulls } from '../reading.ts';
import type { NewMemory, ReadRestore, RestoreDialect } from '../restore-dialect.ts';
import { looksLike, ruled, text } from '../rule.ts';
import { group, holdAnnotation, version } from './intent.ts';
import {
  type EtcdRestoreStatus,
  etcdRestoreStatus,
  foundRestoreStatus,
  phaseIn,
  writeRestoreProblems,
  writeRestoreStatus,
} from './restore-status.ts';
import { foundStatus } from './status.ts';
import { placeOf, storageTypes, storeFields, storeIsNamed } from './store-spec.ts';

const largestBump = 1_000_000_000_000;

const revisionBump = ruled(z.int(), {
  cel: `self >= 0 && self <= ${largestBump}`,
  says: `must be from 0 to ${largestBump}`,
  holds: (by) => by >= 0 && by <= largestBump,
}).describe(
  'By how much revisions leap, and history before that counts as compacted, so that clients which have seen newer ' +
    'revisions notice: 1000000000 is far enough. From etcd 3.5.10 on; 0 or left out means that revisions go back.',
);

const etcdRestoreSpec = ruled(
  z.object({
    etcdCluster: z
      .object({
        name: ruled(text(253), looksLike(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of an EtcdCluster')),
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

/** Reads whatever the API server has stored under the name of an EtcdRestore. Never throws. */
function read(raw: unknown): Parsed<ReadRestore> {
  const parsed = etcdRestore.safeParse(withoutNulls(raw), { reportInput: true });
  return parsed.success
    ? { ok: true, value: translate(parsed.data) }
    : { ok: false, problems: problemsOf(parsed.error) };
}

function translate(resource: EtcdRestoreResource): ReadRestore {
  const { metadata, spec } = resource;
  const { name, namespace, uid, creationTimestamp } = metadata;
  return {
    intent: {
      ...{ name, namespace, uid, createdAt: Date.parse(creationTimestamp ?? '') || 0 },
      cluster: spec.etcdCluster.name,
      store: placeOf(spec.backupStorageType, spec),
      serviceAccountName: spec.serviceAccountName,
      revisionBump: spec.revisionBump || undefined,
    },
    memory: memoryOf(resource),
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdRestore', name, uid, controller: true },
  };
}

function memoryOf({ metadata, status }: EtcdRestoreResource): RestoreMemory {
  const { phaseSince, seedMember, clusterId } = status;
  const since = Date.parse(phaseSince ?? metadata.creationTimestamp ?? '') || 0;
  return { phase: phaseOfOriginal(status) ?? phaseIn(status.phase), since, seed: seedMember, clusterId };
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

export const coreosRestores: RestoreDialect = {
  group,
  version,
  plural: 'etcdrestores',
  kind: 'EtcdRestore',
  holdAnnotation,
  read,
  writeStatus: writeRestoreStatus,
  writeProblems: writeRestoreProblems,
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
  description: 'Gives an etcd cluster that there is the data of a backup, in place of what it has.',
  nameRules: [],
  spec: etcdRestoreSpec,
  status: etcdRestoreStatus,
  columns,
};

export const etcdRestoreSchema = () => schemaOf(etcdRestoreKind);
export const etcdRestoreCrd = () => definitionOf(etcdRestoreKind);
