import { z } from 'zod';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { secretName, serviceAccountName } from '../member-settings.ts';
import { metadataWith } from '../metadata.ts';
import { readerOf } from '../reading.ts';
import type { ClusterTemplate, Counts, NewMemory, ReadRestore, RestoreDialect } from '../restore-dialect.ts';
import { revisionBump, sameCluster } from '../restore-settings.ts';
import { changing, looksLike, ruled, text } from '../rule.ts';
import { etcdClusterSpec } from './cluster-spec.ts';
import { clusterName, group, holdAnnotation, longestClusterName, ownPrefix, version } from './names.ts';
import {
  etcdRestoreStatus,
  foundRestoreStatus,
  phaseIn,
  writeRestoreProblems,
  writeRestoreStatus,
} from './restore-status.ts';
import { foundClusterStatus } from './status.ts';

const objectURL = ruled(
  text(2048),
  looksLike(
    /^(s3|gs|azblob|oss|file):\/\/[^/?#]+\/[^?#]/,
    'must be the URL of an object: s3://bucket/key, gs://bucket/key, azblob://container/key, oss://bucket/key or file://claim/path',
  ),
);

const source = z.object({
  objectURL: objectURL.describe(
    'The snapshot. What may follow a "?" is in the page on stores; file:// names a volume claim of this namespace.',
  ),
  credentialsSecret: secretName
    .optional()
    .describe(
      'Secret of this namespace that opens the store; without one, the identity of serviceAccountName does, or, if that is left out too, the operator reads with what it was given.',
    ),
});

const clusterTemplate = ruled(
  z.object({
    clusterName: changing(
      ruled(clusterName, {
        cel: `size(self) <= ${longestClusterName}`,
        says: `must not be longer than ${longestClusterName} characters`,
        holds: (name) => name.length <= longestClusterName,
      }),
      sameCluster,
    ).describe(
      'Name of the EtcdCluster. There must be none of that name, unless replaceExisting is true, nor a volume that one has left.',
    ),
    spec: etcdClusterSpec
      .optional()
      .describe('Its spec, as in an EtcdCluster; one that is there keeps its own. Either this, or fromBackup.'),
    fromBackup: z
      .boolean()
      .optional()
      .describe(
        'true: the EtcdCluster is made with the spec that it had when it was saved. For backups that named their EtcdCluster ' +
          '(source.clusterName), under its old name or another.',
      ),
  }),
  {
    cel: 'has(self.spec) != (has(self.fromBackup) && self.fromBackup)',
    says: 'must have either spec, or fromBackup: true',
    holds: ({ spec, fromBackup = false }) => (spec !== undefined) !== fromBackup,
  },
);

const etcdRestoreSpec = z.object({
  source: source.describe('Where the backup is.'),
  clusterTemplate: clusterTemplate.describe(
    'The EtcdCluster that is made, in the namespace of the restore. It stays when the restore is deleted.',
  ),
  serviceAccountName: serviceAccountName
    .optional()
    .describe('Account of the pods that read the snapshot, for a workload identity. Its token is not mounted by us.'),
  revisionBump: revisionBump.optional(),
  replaceExisting: z
    .boolean()
    .optional()
    .describe(
      'true: an EtcdCluster of that name, whether it serves or not, gets the data of the backup in place of what it has. It ' +
        'keeps its spec and its services. Without it, one that is there is not touched.',
    ),
});

const etcdRestore = z.object({
  metadata: metadataWith([]),
  spec: etcdRestoreSpec,
  status: foundRestoreStatus.default({}),
});
type EtcdRestoreResource = z.output<typeof etcdRestore>;
type Spec = EtcdRestoreResource['spec'];

function translate({ metadata, spec, status }: EtcdRestoreResource, raw: unknown): ReadRestore {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const { objectURL: url, credentialsSecret: secret } = spec.source;
  const { phaseSince, seedMember, clusterId } = status;
  return {
    intent: {
      ...{ name, namespace, uid, createdAt: Date.parse(creationTimestamp ?? '') || 0 },
      cluster: spec.clusterTemplate.clusterName,
      into: 'new',
      replaces: spec.replaceExisting,
      store: { url, field: 'spec.source.objectURL', secret: secret || undefined },
      credentials: credentialsOf(spec),
      serviceAccountName: spec.serviceAccountName,
      revisionBump: spec.revisionBump || undefined,
    },
    memory: {
      phase: phaseIn(status),
      since: Date.parse(phaseSince ?? creationTimestamp ?? '') || 0,
      seed: seedMember,
      clusterId,
    },
    template: templateFor(spec, raw),
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdRestore', name, uid, controller: true },
  };
}

/** A volume needs none; who names a Secret or an account means those. */
const credentialsOf = ({ source: { credentialsSecret, objectURL: url }, serviceAccountName: account }: Spec) =>
  credentialsSecret || account || url.startsWith('file:') ? 'own' : 'operators';

const templateFor = ({ clusterTemplate: { fromBackup } }: Spec, raw: unknown): ReadRestore['template'] =>
  fromBackup === true ? 'in-backup' : templateIn(raw);

/** The cluster gets what was written, and not what this operator makes of it: what is left out is filled in once. */
function templateIn(raw: unknown): ClusterTemplate {
  const { spec } = raw as { readonly spec: { readonly clusterTemplate: ClusterTemplate } };
  return { spec: spec.clusterTemplate.spec };
}

const describedByHand = (cluster: string): string =>
  `create an EtcdRestore that has the spec of EtcdCluster "${cluster}" in clusterTemplate.spec, and not fromBackup`;

/** All that is known of the members is that there is one. */
function rewriteMemory(previous: unknown, { seed, token, clusterId, memberId, version: runs }: NewMemory): object {
  const before = foundClusterStatus.parse(previous ?? {});
  const members = memberId === undefined ? [] : [{ name: seed, id: memberId, role: 'voter' as const }];
  return { ...before, clusterId, serverVersion: runs, bootstrap: { members: [seed], token }, members };
}

function countsIn(status: object): Counts {
  const { readyReplicas: ready, replicas: size } = foundClusterStatus.parse(status);
  return { ready, size };
}

export const improbableRestores: RestoreDialect = {
  group,
  version,
  plural: 'etcdrestores',
  kind: 'EtcdRestore',
  holdAnnotation,
  restoredFromLabel: `${ownPrefix}restored-from`,
  read: readerOf(etcdRestore, translate),
  describedByHand,
  writeStatus: writeRestoreStatus,
  writeProblems: writeRestoreProblems,
  countsIn,
  rewriteMemory,
};

const columns: readonly Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterTemplate.clusterName' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Stage', type: 'string', jsonPath: '.status.stage', description: 'what is being done' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why it failed', priority: 1 },
];

const etcdRestoreKind: Kind = {
  group,
  version,
  kind: 'EtcdRestore',
  shortNames: ['irestore'],
  description: 'Makes an etcd cluster that has the data of a backup.',
  nameRules: [],
  spec: etcdRestoreSpec,
  status: etcdRestoreStatus,
  columns,
};

export const etcdRestoreSchema = () => schemaOf(etcdRestoreKind);
export const etcdRestoreCrd = () => definitionOf(etcdRestoreKind);
