import { etcdRestoreSchema } from '../src/dialects/improbable-v1alpha1/restore.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const improbableEtcdRestore = (): string => `# EtcdRestore of etcd.improbable.io/v1alpha1

<!-- Generated from src/dialects/improbable-v1alpha1 by tools/generate-crds.ts. -->

Makes an EtcdCluster that has the data of a backup. Short name: \`irestore\`. How it goes about that is in
[backups](../guide/backups.md); what may be in the URL and in the Secret is in [stores](stores.md). A restore is made once; for
another, create another resource. What it has made stays when it is deleted.

- **The name must be free**: no EtcdCluster of either API has it in this namespace, and no volume is left of an earlier one. What
  is there is not touched: the restore fails, and says what it has found. With \`replaceExisting\` an EtcdCluster of this API that is
  there keeps its spec and gets other data.
- **The fields of \`clusterTemplate.spec\`** are those of an [EtcdCluster](improbable-etcdcluster.md). With \`fromBackup: true\` in its place, the
  cluster is made as it was when it was saved: its spec is kept beside each backup that named it, of this API.
- \`fromBackup\`, \`credentialsSecret\`, \`serviceAccountName\`, \`revisionBump\`, \`replaceExisting\`, and URLs other than \`s3://\` and \`gs://\`, are not in the original.

## Spec

${fieldTable(etcdRestoreSchema(), 'spec')}

## Status

${fieldTable(etcdRestoreSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdRestoreSchema())}
`;
