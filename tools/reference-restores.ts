import { etcdRestoreSchema } from '../src/apis/improbable-v1alpha1/backup/restore.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const improbableEtcdRestore = (): string => `# EtcdRestore of etcd.improbable.io/v1alpha1

<!-- Generated from src/apis/improbable-v1alpha1 by tools/generate-crds.ts. -->

Creates an EtcdCluster from a backup. Short name: \`irestore\`. The steps are described in [backups](../guide/backups.md), URLs and
Secrets in [stores](stores.md). A restore runs once; to restore again, create another resource. Deleting the resource does not
delete the cluster.

- **The name must be free**: no EtcdCluster of either API in this namespace may have it, and no PVC of an earlier cluster may be
  left. Existing objects are not touched: the restore fails and names them. With \`replaceExisting\`, an existing EtcdCluster of
  this API keeps its spec and gets the data of the backup.
- **\`clusterTemplate.spec\`** has the fields of an [EtcdCluster](improbable-etcdcluster.md). With \`fromBackup: true\` instead, the
  cluster gets the spec that is stored beside each backup of an EtcdCluster of this API.
- \`fromBackup\`, \`credentialsSecret\`, \`serviceAccountName\`, \`revisionBump\`, \`replaceExisting\`, and URLs other than \`s3://\` and \`gs://\` are not in the original.

## Spec

${fieldTable(etcdRestoreSchema(), 'spec')}

## Status

${fieldTable(etcdRestoreSchema(), 'status')}

## Validation errors

${refusalTable(etcdRestoreSchema())}
`;
