import { etcdBackupSchema } from '../src/dialects/coreos-v1beta2/backup.ts';
import { etcdRestoreSchema } from '../src/dialects/coreos-v1beta2/restore.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const coreosEtcdBackup = (): string => `# EtcdBackup of etcd.database.coreos.com/v1beta2

<!-- Generated from src/dialects/coreos-v1beta2 by tools/generate-crds.ts. -->

A backup of an etcd cluster, once or again and again. How to use it is in [backups](../guide/backups.md); what the Secrets of
stores hold is in [stores](stores.md). All Secrets and volumes are of the resource's own namespace.

- **Once** is what a backup without \`backupIntervalInSecond\` and \`schedule\` means: the object is at just \`path\`, and what was
  there is replaced when the new one is whole. It is not made again, unless one of the two is set.
- **Periodic** backups are at \`<path>_v<revision>_<date>\`. With an interval the first is made at once, with a schedule when
  its time has come. \`startingDeadlineSeconds\` holds for these alone, and for another try after a failure, too.
- Deleting the resource deletes nothing that was stored.

## Spec

${fieldTable(etcdBackupSchema(), 'spec')}

## Status

${fieldTable(etcdBackupSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdBackupSchema())}
`;

export const coreosEtcdRestore = (): string => `# EtcdRestore of etcd.database.coreos.com/v1beta2

<!-- Generated from src/dialects/coreos-v1beta2 by tools/generate-crds.ts. -->

Gives an EtcdCluster that there is the data of a backup, in place of what it has. How it goes about that is in
[backups](../guide/backups.md). A restore is made once; for another, create another resource. Its name is free: the original
asks for the name of the cluster, which is still good.

## Spec

${fieldTable(etcdRestoreSchema(), 'spec')}

## Status

${fieldTable(etcdRestoreSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdRestoreSchema())}
`;
