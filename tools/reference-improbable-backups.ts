import { etcdBackupSchema } from '../src/apis/improbable-v1alpha1/backup/backup.ts';
import { etcdBackupScheduleSchema } from '../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const improbableEtcdBackup = (): string => `# EtcdBackup of etcd.improbable.io/v1alpha1

<!-- Generated from src/apis/improbable-v1alpha1 by tools/generate-crds.ts. -->

One backup of an etcd cluster. See [backups](../guide/backups.md) for how to use it, and [stores](stores.md) for URLs and
Secrets. Short name: \`ibackup\`. If both APIs are installed, the full name is \`etcdbackups.etcd.improbable.io\`.

- **Credentials**: \`destination.credentialsSecret\` and \`serviceAccountName\` refer to the namespace of the resource. If neither
  is set, the operator uses \`--store-secret\` or \`--store-service-account\`, in a pod in its own namespace.
- The backup runs once; later changes of the resource have no effect. A backup with an invalid spec runs after the correction.
- Deleting the resource deletes no stored snapshot.

## Spec

${fieldTable(etcdBackupSchema(), 'spec')}

## Status

${fieldTable(etcdBackupSchema(), 'status')}

## Validation errors

${refusalTable(etcdBackupSchema())}
`;

export const improbableEtcdBackupSchedule = (): string => `# EtcdBackupSchedule of etcd.improbable.io/v1alpha1

<!-- Generated from src/apis/improbable-v1alpha1 by tools/generate-crds.ts. -->

Backups on a cron schedule. For each time an EtcdBackup is created, which the schedule owns and which is deleted with it.
Stored snapshots stay. Short name: \`ischedule\`.

- **One at a time**: while a backup runs, the next one waits. Of the times missed while the operator was down or \`suspend\` was
  set, only the last is made up, unless \`startingDeadlineSeconds\` has passed.
- **Blocked backups**: a backup that cannot start, for example without its Secret, is replaced by the next one, and by a new
  one after a correction of \`backupTemplate\`. Its message and the schedule's condition have the reason.
- **Daylight saving**: a time skipped when clocks go forward is made up at once. A time that occurs twice when clocks go back
  counts once, except for hourly schedules.
- **Retention**: the history limits apply to EtcdBackups, \`backupTemplate.retention\` to objects in the store. Without
  {{ .UID }}, {{ .Name }} or {{ .CreationTimestamp }} in its URL, each backup replaces the previous one.
- The API server accepts an invalid schedule or time zone. The condition \`Progressing\` and an Event then report it.

## Spec

${fieldTable(etcdBackupScheduleSchema(), 'spec')}

## Status

${fieldTable(etcdBackupScheduleSchema(), 'status')}

## Validation errors

${refusalTable(etcdBackupScheduleSchema())}
`;
