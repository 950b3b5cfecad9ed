import { etcdBackupSchema } from '../src/apis/coreos-v1beta2/backup.ts';
import { etcdRestoreSchema } from '../src/apis/coreos-v1beta2/restore.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const coreosEtcdBackup = (): string => `# EtcdBackup of etcd.database.coreos.com/v1beta2

<!-- Generated from src/apis/coreos-v1beta2 by tools/generate-crds.ts. -->

A backup of an etcd cluster, once or periodic. See [backups](../guide/backups.md) for how to use it, and [stores](stores.md)
for the keys of the Secrets. All Secrets and PVCs are in the namespace of the resource.

- **Once**: without \`backupIntervalInSecond\` and \`schedule\`, one backup is made. The object has exactly the path \`path\`; an
  existing object is replaced when the new one is complete. The backup is not repeated, unless one of the two fields is set.
- **Periodic**: objects are at \`<path>_v<revision>_<date>\`. With an interval the first backup starts at once, with a schedule
  at its first time. \`startingDeadlineSeconds\` applies only to periodic backups, also to a retry after a failure.
- Deleting the resource deletes no stored snapshot.

## Spec

${fieldTable(etcdBackupSchema(), 'spec')}

## Status

${fieldTable(etcdBackupSchema(), 'status')}

## Validation errors

${refusalTable(etcdBackupSchema())}
`;

export const coreosEtcdRestore = (): string => `# EtcdRestore of etcd.database.coreos.com/v1beta2

<!-- Generated from src/apis/coreos-v1beta2 by tools/generate-crds.ts. -->

Replaces the data of an existing EtcdCluster by a backup. The steps are described in [backups](../guide/backups.md). A restore
runs once; to restore again, create another resource. Any name is allowed. The original requires the name of the cluster,
which also works.

## Spec

${fieldTable(etcdRestoreSchema(), 'spec')}

## Status

${fieldTable(etcdRestoreSchema(), 'status')}

## Validation errors

${refusalTable(etcdRestoreSchema())}
`;
