import { improbableBackups } from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import { improbableSchedules } from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { accepted, benchFor, type ManifestJson, refused } from './crd-support.ts';

const { withNamespace, judge } = benchFor('crd-improbable-backups');

const object = (kind: string, spec: ManifestJson): ManifestJson => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind,
  metadata: { name: 'example' },
  spec,
});
const least = {
  source: { clusterURL: 'http://my-cluster:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db' },
};
const backup = (spec: ManifestJson): ManifestJson => object('EtcdBackup', { ...least, ...spec });
const source = (of: ManifestJson): ManifestJson => backup({ source: of });
const at = (objectURLTemplate: string): ManifestJson => backup({ destination: { objectURLTemplate } });
const schedule = (spec: ManifestJson): ManifestJson =>
  object('EtcdBackupSchedule', { schedule: '@daily', backupTemplate: least, ...spec });
const times = (text: string): ManifestJson => schedule({ schedule: text });

withNamespace();
judge(
  {
    'the source of an EtcdBackup': [
      ['a URL', backup({}), accepted()],
      ['a URL without a scheme', source({ clusterURL: 'my-cluster:2379' }), accepted()],
      ['a cluster', source({ clusterName: 'my-etcd' }), accepted()],
      ['an empty source', source({}), refused('one of clusterURL and clusterName must be set')],
      ['a URL and a cluster', source({ clusterURL: 'http://a', clusterName: 'a' }), refused('and not both')],
      ['a cluster of another namespace', source({ clusterName: 'other/a' }), refused('must be the name of a cluster')],
      ['a file URL', source({ clusterURL: 'file:///etc/passwd' }), refused('must be a client URL')],
      ['a password in the URL', source({ clusterURL: 'http://me:secret@a:2379' }), refused('must be a client URL')],
      [
        'a credentialsSecret with clusterName',
        source({ clusterName: 'a', credentialsSecret: 's' }),
        refused('are only for clusterURL'),
      ],
    ],
    'the store of an EtcdBackup': [
      ['an S3 endpoint of the user', at('s3://b/k?endpoint=http://minio:9000&disableSSL=true'), accepted()],
      ['Google', at('gs://bucket/key'), accepted()],
      ['Azure', at('azblob://container/key'), accepted()],
      ['a volume', at('file://claim/path/{{ .Name }}.db'), accepted()],
      ['an unknown URL scheme', at('ftp://bucket/key'), refused('known are s3, gs, azblob, oss and file')],
      ['a bucket without a key', at('s3://bucket'), refused('must be the URL of an object')],
      ['no bucket', at('s3:///key'), refused('must be the URL of an object')],
      ['credentials in the URL', at('s3://me:secret@bucket/key'), refused('without credentials')],
      ['a path with ..', at('s3://a/../b'), accepted('the operator refuses it and reports why')],
      ['the metadata service', at('s3://a/b?endpoint=http://169.254.169.254'), accepted('the operator refuses it')],
      ['an unknown template field', at('s3://a/{{ .Colour }}'), accepted('the operator refuses it and reports why')],
      [
        'a Secret of another namespace',
        backup({ destination: { ...least.destination, credentialsSecret: 'a/b' } }),
        refused('must be the name of a Secret'),
      ],
    ],
    'retention and timeout of an EtcdBackup': [
      ['retention by count and age', backup({ retention: { maxBackups: 3, maxAgeSeconds: 60 } }), accepted()],
      ['a very large maxBackups', backup({ retention: { maxBackups: 1_000_000_000 } }), accepted()],
      ['maxBackups of 0', backup({ retention: { maxBackups: 0 } }), refused('must be from 1')],
      ['a negative maxBackups', backup({ retention: { maxBackups: -1 } }), refused('must be from 1')],
      ['a timeout of 0', backup({ timeoutSeconds: 0 }), refused('must be from 1')],
      ['a timeout of half a second', backup({ timeoutSeconds: 0.5 }), refused('must be of type integer')],
      ['a timeout with a unit', backup({ timeoutSeconds: '5m' }), refused('must be of type integer')],
    ],
  },
  improbableBackups.read,
);
judge(
  {
    'an EtcdBackupSchedule': [
      ['with five cron fields', times('30 2 * * MON-FRI'), accepted()],
      ['with a macro', times('@hourly'), accepted()],
      ['with @every', times('@every 1h30m'), accepted()],
      ['with CRON_TZ', times('CRON_TZ=Europe/Berlin 0 3 * * *'), accepted()],
      ['with timeZone', schedule({ timeZone: 'America/Argentina/Buenos_Aires' }), accepted()],
      ['with an empty schedule', times(''), refused('must be five cron fields')],
      ['with six cron fields', times('0 0 0 * * *'), refused('must be five cron fields')],
      ['with an unknown macro', times('@reboot'), refused('must be five cron fields')],
      ['with a duration without a unit', times('@every 5'), refused('must be five cron fields')],
      ['with an empty timeZone', schedule({ timeZone: '' }), refused('must be the name of a time zone')],
      ['with TZ and timeZone', schedule({ schedule: 'TZ=UTC @daily', timeZone: 'UTC' }), refused('set twice')],
      ['with a starting deadline of 0', schedule({ startingDeadlineSeconds: 0 }), refused('must be from 1')],
      ['with a history limit of 0', schedule({ successfulBackupsHistoryLimit: 0 }), accepted()],
      ['with a negative history limit', schedule({ failedBackupsHistoryLimit: -1 }), refused('must be from 0')],
      ['without a template', schedule({ backupTemplate: null }), refused('spec.backupTemplate')],
      [
        'with a template without a source',
        schedule({ backupTemplate: { ...least, source: {} } }),
        refused('must be set'),
      ],
    ],
  },
  improbableSchedules.read,
);
