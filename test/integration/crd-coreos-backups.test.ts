import { coreosBackups } from '../../src/dialects/coreos-v1beta2/backup.ts';
import { accepted, benchFor, type Json, refused } from './crd-support.ts';

const { withNamespace, judge } = benchFor('crd-backups');

const backup = (spec: Json): Json => ({
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
const s3 = (fields: Json): Json => backup({ s3: { path: 'bucket/key', ...fields } });
const policy = (backupPolicy: Json): Json => backup({ backupPolicy });

withNamespace();
judge(
  {
    'what is saved': [
      ['endpoints', backup({}), accepted()],
      ['a cluster', backup({ etcdEndpoints: null, etcdCluster: { name: 'db' } }), accepted()],
      ['nothing', backup({ etcdEndpoints: [] }), refused('spec.etcdEndpoints should not be empty')],
      ['two things', backup({ etcdCluster: { name: 'db' } }), refused('exclude each other')],
      ['a file', backup({ etcdEndpoints: ['file:///etc/passwd'] }), refused('must be a client URL')],
      [
        'credentials in a URL',
        backup({ etcdEndpoints: ['http://me:secret@db:2379'] }),
        refused('must be a client URL'),
      ],
    ],
    'where it is kept': [
      ['a store nobody knows', backup({ storageType: 'FTP' }), refused('Unsupported value: "FTP"')],
      ['a store that is not described', backup({ storageType: 'OSS' }), refused('so oss must be set')],
      ['a volume', backup({ storageType: 'PVC', pvc: { claimName: 'disk', path: 'a.db' } }), accepted()],
      ['a bucket alone', s3({ path: 'bucket' }), refused('Invalid S3 path')],
      ['a key that begins with /', s3({ path: '/bucket/key' }), refused('Invalid S3 path')],
      ['a path with ..', s3({ path: 'a/../b' }), accepted('the operator refuses it, and says why')],
      ['plain http', s3({ endpoint: 'http://minio:9000', forcePathStyle: true }), accepted('an Event warns of it')],
      ['credentials in the endpoint', s3({ endpoint: 'https://me:secret@s3' }), refused('without credentials')],
      ['a Secret elsewhere', s3({ awsSecret: 'other/aws' }), refused('must be the name of a Secret')],
    ],
    'when, and how many': [
      ['never again', policy({ backupIntervalInSecond: 0, maxBackups: 0, timeoutInSecond: 0 }), accepted()],
      ['very many', policy({ maxBackups: 1_000_000_000 }), accepted()],
      [
        'backwards',
        policy({ backupIntervalInSecond: -1 }),
        refused('BackupIntervalInSecond should not be lower than 0'),
      ],
      ['fewer than none', policy({ maxBackups: -1 }), refused('MaxBackups should not be lower than 0')],
      ['at certain times', policy({ schedule: '30 2 * * MON-FRI', timeZone: 'Europe/Berlin' }), accepted()],
      ['a word', policy({ schedule: '@hourly', startingDeadlineSeconds: 600, suspend: true }), accepted()],
      ['in a zone that comes first', policy({ schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *' }), accepted()],
      ['a schedule, and an interval of nought', policy({ schedule: '@daily', backupIntervalInSecond: 0 }), accepted()],
      ['an interval with a deadline', policy({ backupIntervalInSecond: 60, startingDeadlineSeconds: 9 }), accepted()],
      [
        'a schedule and an interval',
        policy({ schedule: '@daily', backupIntervalInSecond: 60 }),
        refused('schedule and backupIntervalInSecond exclude each other'),
      ],
      ['no times', policy({ schedule: '' }), refused('must be five fields')],
      ['six fields', policy({ schedule: '0 0 0 * * *' }), refused('must be five fields')],
      ['a word nobody knows', policy({ schedule: '@reboot' }), refused('must be five fields')],
      ['a duration without a unit', policy({ schedule: '@every 5' }), refused('must be five fields')],
      ['an empty zone', policy({ schedule: '@daily', timeZone: '' }), refused('must be the name of a time zone')],
      ['two zones', policy({ schedule: 'TZ=UTC @daily', timeZone: 'UTC' }), refused('said twice')],
      ['a zone of no schedule', policy({ timeZone: 'UTC' }), refused('timeZone is that of schedule')],
      ['with no delay', policy({ schedule: '@daily', startingDeadlineSeconds: 0 }), refused('must be from 1')],
      ['half a second', policy({ backupIntervalInSecond: 0.5 }), refused('must be of type integer')],
    ],
  },
  coreosBackups.read,
);
