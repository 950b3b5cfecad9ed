import { coreosBackups } from '../../src/apis/coreos-v1beta2/backup.ts';
import { accepted, benchFor, type ManifestJson, refused } from './crd-support.ts';

const { withNamespace, judge } = benchFor('crd-backups');

const backup = (spec: ManifestJson): ManifestJson => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdBackup',
  metadata: { name: 'example' },
  spec: {
    etcdEndpoints: ['https://example-etcd-cluster-client.default.svc:2379'],
    storageType: 'S3',
    s3: { path: 'bucket/key', awsSecret: 'aws' },
    ...spec,
  },
});
const s3 = (fields: ManifestJson): ManifestJson => backup({ s3: { path: 'bucket/key', ...fields } });
const policy = (backupPolicy: ManifestJson): ManifestJson => backup({ backupPolicy });

withNamespace();
judge(
  {
    'the source of an EtcdBackup': [
      ['endpoints', backup({}), accepted()],
      ['a cluster', backup({ etcdEndpoints: null, etcdCluster: { name: 'db' } }), accepted()],
      ['no endpoints', backup({ etcdEndpoints: [] }), refused('spec.etcdEndpoints should not be empty')],
      ['endpoints and a cluster', backup({ etcdCluster: { name: 'db' } }), refused('exclude each other')],
      ['a file URL', backup({ etcdEndpoints: ['file:///etc/passwd'] }), refused('must be a client URL')],
      [
        'credentials in a URL',
        backup({ etcdEndpoints: ['http://me:secret@db:2379'] }),
        refused('must be a client URL'),
      ],
    ],
    'the store of an EtcdBackup': [
      ['an unknown storageType', backup({ storageType: 'FTP' }), refused('Unsupported value: "FTP"')],
      ['a storageType without its store fields', backup({ storageType: 'OSS' }), refused('so oss must be set')],
      ['a volume', backup({ storageType: 'PVC', pvc: { claimName: 'backups', path: 'a.db' } }), accepted()],
      ['a bucket without a key', s3({ path: 'bucket' }), refused('Invalid S3 path')],
      ['a key that begins with /', s3({ path: '/bucket/key' }), refused('Invalid S3 path')],
      ['a path with ..', s3({ path: 'a/../b' }), accepted('the operator refuses it and reports why')],
      [
        'plain http',
        s3({ endpoint: 'http://minio:9000', forcePathStyle: true }),
        accepted('an Event warns of plain http'),
      ],
      ['credentials in the endpoint', s3({ endpoint: 'https://me:secret@s3' }), refused('without credentials')],
      ['a Secret of another namespace', s3({ awsSecret: 'other/aws' }), refused('must be the name of a Secret')],
    ],
    'the policy of an EtcdBackup': [
      ['zero for all numbers', policy({ backupIntervalInSecond: 0, maxBackups: 0, timeoutInSecond: 0 }), accepted()],
      ['a very large maxBackups', policy({ maxBackups: 1_000_000_000 }), accepted()],
      [
        'a negative interval',
        policy({ backupIntervalInSecond: -1 }),
        refused('BackupIntervalInSecond should not be lower than 0'),
      ],
      ['a negative maxBackups', policy({ maxBackups: -1 }), refused('MaxBackups should not be lower than 0')],
      [
        'a cron schedule with a time zone',
        policy({ schedule: '30 2 * * MON-FRI', timeZone: 'Europe/Berlin' }),
        accepted(),
      ],
      ['a schedule macro', policy({ schedule: '@hourly', startingDeadlineSeconds: 600, suspend: true }), accepted()],
      ['a schedule with CRON_TZ', policy({ schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *' }), accepted()],
      ['a schedule and an interval of 0', policy({ schedule: '@daily', backupIntervalInSecond: 0 }), accepted()],
      ['an interval with a deadline', policy({ backupIntervalInSecond: 60, startingDeadlineSeconds: 9 }), accepted()],
      [
        'a schedule and an interval',
        policy({ schedule: '@daily', backupIntervalInSecond: 60 }),
        refused('schedule and backupIntervalInSecond exclude each other'),
      ],
      ['an empty schedule', policy({ schedule: '' }), refused('must be five cron fields')],
      ['a schedule of six fields', policy({ schedule: '0 0 0 * * *' }), refused('must be five cron fields')],
      ['an unknown schedule macro', policy({ schedule: '@reboot' }), refused('must be five cron fields')],
      ['a duration without a unit', policy({ schedule: '@every 5' }), refused('must be five cron fields')],
      ['an empty time zone', policy({ schedule: '@daily', timeZone: '' }), refused('must be the name of a time zone')],
      ['TZ and timeZone', policy({ schedule: 'TZ=UTC @daily', timeZone: 'UTC' }), refused('set twice')],
      ['a time zone without a schedule', policy({ timeZone: 'UTC' }), refused('timeZone applies to schedule')],
      [
        'a starting deadline of 0',
        policy({ schedule: '@daily', startingDeadlineSeconds: 0 }),
        refused('must be from 1'),
      ],
      ['an interval of half a second', policy({ backupIntervalInSecond: 0.5 }), refused('must be of type integer')],
    ],
  },
  coreosBackups.read,
);
