import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { read } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { applyBackup, backedUp, backUpImprobable } from '../support/backups.ts';
import { type ClusterSpec, declaredIn } from '../support/cluster.ts';
import { guideReader } from '../support/guide-reader.ts';
import { installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const withOneMember: ClusterSpec = { size: 1, version: '3.5.35' };
const pvc = 'backups';
const unlabelled = JSON.stringify({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: pvc },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
});

story.asOnTheLab(
  'the commands of the backup guide show backups, schedules and restores of both APIs',
  async (context) => {
    const { kubectl, namespace } = context;
    using reader = await guideReader(context);
    await installForBoth(context);
    await declaredIn(coreos)(kubectl, 'example-etcd-cluster').apply(withOneMember);
    await declaredIn(improbable)(kubectl, 'my-etcd').apply(withOneMember);
    await kubectl('apply -f -', { input: unlabelled });
    const improbableResource = (kind: string, name: string, spec: object): Promise<string> =>
      kubectl('apply -f -', {
        input: JSON.stringify({ apiVersion: improbable.apiVersion, kind, metadata: { name }, spec }),
      });

    await reader.follow('docs/guide/backups.md', {
      'Back up': {
        before: () =>
          applyBackup(kubectl, 'every-hour', {
            etcdCluster: { name: 'example-etcd-cluster' },
            ...{ storageType: 'PVC', pvc: { claimName: pvc, path: 'example' } },
            backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 24 },
          }),
        after: (output) =>
          expect(output).toMatch(/^NAME +SUCCEEDED +LAST SUCCESS +REVISION +VERSION +AGE\nevery-hour /),
      },
      'On a volume': {
        before: async () => ({ '<name>': pvc }),
        after: async () => {
          await backedUp(kubectl, 'every-hour');
          await backUpImprobable(kubectl, 'my-etcd', `file://${pvc}/my-etcd.db`);
        },
      },
      Backups: {
        before: async () => {
          await improbableResource('EtcdBackupSchedule', 'nightly', {
            ...{ schedule: '30 2 * * *', timeZone: 'Europe/Berlin' },
            backupTemplate: {
              source: { clusterName: 'my-etcd' },
              destination: { objectURLTemplate: `file://${pvc}/{{ .UID }}.db` },
            },
          });
          await waitFor(kubectl, 'etcdbackupschedules.etcd.improbable.io/nightly', field('.status.nextScheduleTime'));
        },
        after: (output) => expect(output).toMatch(/^NAME +SCHEDULE +.*\nnightly +30 2 \* \* \* .*\dT\d\d:30:00Z/),
      },
      'Credentials of the operator': {
        before: async () => {
          for (const file of ['credentials', 'config']) writeFileSync(join(reader.directory, file), '[default]\n');
          return { 'eco-system': namespace };
        },
        after: async () => {
          const { data } = await read<{ data: object }>(kubectl, 'secret/store');
          expect(Object.keys(data).toSorted()).toEqual(['config', 'credentials']);
        },
      },
      Restores: {
        before: async () => {
          await improbableResource('EtcdRestore', 'my-etcd-again', {
            source: { objectURL: `file://${pvc}/my-etcd.db` },
            clusterTemplate: { clusterName: 'my-etcd-again', spec: { replicas: 1, version: '3.5.35' } },
          });
          const restore = 'etcdrestores.etcd.improbable.io/my-etcd-again';
          await waitFor(kubectl, restore, inSeconds(120, field('.status.phase', 'Completed')));
        },
        after: (output) =>
          expect(output).toMatch(/^NAME +CLUSTER +PHASE +STAGE +AGE\nmy-etcd-again +my-etcd-again +Comp/),
      },
    });
  },
);
