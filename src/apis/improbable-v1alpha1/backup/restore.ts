import { z } from 'zod';
import { secretName, serviceAccountName } from '../../common/member-settings.ts';
import type { ClusterTemplate, Counts, NewMemory, ReadRestore, RestoreDialect } from '../../common/restore-dialect.ts';
import { immutableCluster, revisionBump } from '../../common/restore-settings.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../../common/schema/definition.ts';
import { metadataWith } from '../../common/schema/metadata.ts';
import { readerOf } from '../../common/schema/reading.ts';
import { looksLike, text, withRules, withTransitionRules } from '../../common/schema/rule.ts';
import { etcdClusterSpec } from '../cluster-spec.ts';
import { clusterName, group, holdAnnotation, longestClusterName, ownPrefix, version } from '../names.ts';
import { storedClusterStatusOf } from '../status.ts';
import {
  etcdRestoreStatus,
  phaseIn,
  storedRestoreStatus,
  writeRestoreProblems,
  writeRestoreStatus,
} from './restore-status.ts';

const objectURL = withRules(
  text(2048),
  looksLike(
    /^(s3|gs|azblob|oss|file):\/\/[^/?#]+\/[^?#]/,
    'must be the URL of an object: s3://bucket/key, gs://bucket/key, azblob://container/key, oss://bucket/key or file://claim/path',
  ),
);

const source = z.object({
  objectURL: objectURL.describe(
    'objectURL is the URL of the snapshot. With file:// the host is a PersistentVolumeClaim in this namespace. ' +
      'The page on stores lists the query parameters.',
  ),
  credentialsSecret: secretName
    .optional()
    .describe(
      'credentialsSecret is the Secret in this namespace with the credentials of the store. Without it, the workload identity of serviceAccountName is used, or the credentials of the operator.',
    ),
});

const clusterTemplate = withRules(
  z.object({
    clusterName: withTransitionRules(
      withRules(clusterName, {
        cel: `size(self) <= ${longestClusterName}`,
        message: `must not be longer than ${longestClusterName} characters`,
        holds: (name) => name.length <= longestClusterName,
      }),
      immutableCluster,
    ).describe(
      'clusterName is the name of the EtcdCluster. No EtcdCluster of that name may exist, unless replaceExisting is true, and no retained volumes of one.',
    ),
    spec: etcdClusterSpec
      .optional()
      .describe(
        'spec is the spec of the EtcdCluster. An existing EtcdCluster keeps its own. Set either spec or fromBackup.',
      ),
    fromBackup: z
      .boolean()
      .optional()
      .describe(
        'fromBackup creates the EtcdCluster with the spec that was saved in the backup, if true. The backup must have named its ' +
          'EtcdCluster (source.clusterName).',
      ),
  }),
  {
    cel: 'has(self.spec) != (has(self.fromBackup) && self.fromBackup)',
    message: 'must have either spec or fromBackup: true',
    holds: ({ spec, fromBackup = false }) => (spec !== undefined) !== fromBackup,
  },
);

const etcdRestoreSpec = z.object({
  source: source.describe('source is the snapshot to restore.'),
  clusterTemplate: clusterTemplate.describe(
    'clusterTemplate is the EtcdCluster to create in this namespace. It stays when the restore is deleted.',
  ),
  serviceAccountName: serviceAccountName
    .optional()
    .describe(
      'serviceAccountName is the ServiceAccount of the pods that read the snapshot, for a workload identity. The operator does not mount its token.',
    ),
  revisionBump: revisionBump.optional(),
  replaceExisting: z
    .boolean()
    .optional()
    .describe(
      'replaceExisting replaces the data of an existing EtcdCluster of that name, if true. The EtcdCluster keeps its spec and ' +
        'its Services. If false, the default, an existing EtcdCluster is not changed.',
    ),
});

const etcdRestore = z.object({
  metadata: metadataWith([]),
  spec: etcdRestoreSpec,
  status: storedRestoreStatus.default({}),
});
type EtcdRestoreResource = z.output<typeof etcdRestore>;
type Spec = EtcdRestoreResource['spec'];

function translate({ metadata, spec, status }: EtcdRestoreResource, raw: unknown): ReadRestore {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const { objectURL: url, credentialsSecret: secret } = spec.source;
  const { phaseSince, seedMember, clusterId } = status;
  return {
    intent: {
      name,
      namespace,
      uid,
      createdAt: Date.parse(creationTimestamp ?? '') || 0,
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

/** A restore uses its own credentials if it names a Secret or ServiceAccount, or reads from a volume. */
const credentialsOf = ({ source: { credentialsSecret, objectURL: url }, serviceAccountName: account }: Spec) =>
  credentialsSecret || account || url.startsWith('file:') ? 'own' : 'operators';

const templateFor = ({ clusterTemplate: { fromBackup } }: Spec, raw: unknown): ReadRestore['template'] =>
  fromBackup === true ? 'in-backup' : templateIn(raw);

/** The cluster gets the spec as written. The API server adds the defaults when the EtcdCluster is created. */
function templateIn(raw: unknown): ClusterTemplate {
  const { spec } = raw as { readonly spec: { readonly clusterTemplate: ClusterTemplate } };
  return { spec: spec.clusterTemplate.spec };
}

const manualRestoreHint = (cluster: string): string =>
  `create an EtcdRestore with the spec of EtcdCluster "${cluster}" in clusterTemplate.spec instead of fromBackup`;

/** After the switch the seed is the only known member. */
function rewriteMemory(previous: unknown, { seed, token, clusterId, memberId, version: runs }: NewMemory): object {
  const before = storedClusterStatusOf(previous);
  const members = memberId === undefined ? [] : [{ name: seed, id: memberId, role: 'voter' as const }];
  return { ...before, clusterId, serverVersion: runs, bootstrap: { members: [seed], token }, members };
}

function countsIn(status: object): Counts {
  const { readyReplicas: ready, replicas: size } = storedClusterStatusOf(status);
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
  manualRestoreHint,
  writeStatus: writeRestoreStatus,
  writeProblems: writeRestoreProblems,
  countsIn,
  rewriteMemory,
};

const columns: readonly Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterTemplate.clusterName' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Stage', type: 'string', jsonPath: '.status.stage', description: 'current stage of the restore' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why the restore failed', priority: 1 },
];

const etcdRestoreKind: Kind = {
  group,
  version,
  kind: 'EtcdRestore',
  shortNames: ['irestore'],
  description: 'EtcdRestore creates an etcd cluster with the data of a backup.',
  nameRules: [],
  spec: etcdRestoreSpec,
  status: etcdRestoreStatus,
  columns,
};

export const etcdRestoreSchema = () => schemaOf(etcdRestoreKind);
export const etcdRestoreCrd = () => definitionOf(etcdRestoreKind);
