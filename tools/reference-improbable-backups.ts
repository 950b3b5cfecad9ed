import { etcdBackupSchema } from '../src/dialects/improbable-v1alpha1/backup.ts';
import { etcdBackupScheduleSchema } from '../src/dialects/improbable-v1alpha1/schedule.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const improbableEtcdBackup = (): string => `# EtcdBackup of etcd.improbable.io/v1alpha1

<!-- Generated from src/dialects/improbable-v1alpha1 by tools/generate-crds.ts. -->

One backup of an etcd cluster. How to use it is in [backups](../guide/backups.md); what URLs mean and what Secrets hold is in
[stores](stores.md). Short name: \`ibackup\`; where both APIs are installed, \`etcdbackups.etcd.improbable.io\` is the whole one.

- **Credentials**: \`destination.credentialsSecret\` and \`serviceAccountName\` are of the resource's own namespace. Where neither
  is named, the operator uses what it was given with \`--store-secret\` or \`--store-service-account\`, in a pod of its own namespace.
- It is made once, whatever is changed in the resource; one that could not be read is made when it is corrected.
- Deleting the resource deletes nothing that was stored.

## Spec

${fieldTable(etcdBackupSchema(), 'spec')}

## Status

${fieldTable(etcdBackupSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdBackupSchema())}
`;

export const improbableEtcdBackupSchedule = (): string => `# EtcdBackupSchedule of etcd.improbable.io/v1alpha1

<!-- Generated from src/dialects/improbable-v1alpha1 by tools/generate-crds.ts. -->

Backups at certain times: for each an EtcdBackup is created, which belongs to the schedule and goes with it. What was stored
stays. Short name: \`ischedule\`.

- **One at a time**: while a backup is being made, the next waits. Of times that went by while nobody looked, the last is made
  up for, unless \`startingDeadlineSeconds\` has passed. The same is done when \`suspend\` is taken away.
- **One that cannot begin**, for want of a Secret or for another reason that its message and the schedule's condition tell, makes
  room for the next; and for one made anew when \`backupTemplate\` is corrected.
- **Clocks**: a time that is leapt over when clocks are put forward is made up for at once; one that comes twice when they are
  put back counts once, but for those that come every hour.
- **What is kept**: the history limits are of EtcdBackups, \`backupTemplate.retention\` is of objects in the store. Without
  {{ .UID }}, {{ .Name }} or {{ .CreationTimestamp }} in its URL each backup replaces the one before.
- A time or time zone that nobody knows is accepted by the API server, and told in the condition \`Progressing\` and in an Event.

## Spec

${fieldTable(etcdBackupScheduleSchema(), 'spec')}

## Status

${fieldTable(etcdBackupScheduleSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdBackupScheduleSchema())}
`;
