import { improbableBackups } from '../../src/dialects/improbable-v1alpha1/backup.ts';
import { improbableSchedules } from '../../src/dialects/improbable-v1alpha1/schedule.ts';
import { accepted, benchFor, type Json, refused } from './crd-support.ts';

const { withNamespace, judge } = benchFor('crd-improbable-backups');

const object = (kind: string, spec: Json): Json => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind,
  metadata: { name: 'example' },
  spec,
});
const least = {
  source: { clusterURL: 'http://my-cluster:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db' },
};
const backup = (spec: Json): Json => object('EtcdBackup', { ...least, ...spec });
const source = (of: Json): Json => backup({ source: of });
const at = (objectURLTemplate: string): Json => backup({ destination: { objectURLTemplate } });
const schedule = (spec: Json): Json =>
  object('EtcdBackupSchedule', { schedule: '@daily', backupTemplate: least, ...spec });
const times = (text: string): Json => schedule({ schedule: text });

withNamespace();
judge(
  {
    'what is saved': [
      ['a URL', backup({}), accepted()],
      ['a URL without a scheme', source({ clusterURL: 'my-cluster:2379' }), accepted()],
      ['a cluster', source({ clusterName: 'my-etcd' }), accepted()],
      ['nothing', source({}), refused('one of clusterURL and clusterName must be set')],
      ['two things', source({ clusterURL: 'http://a', clusterName: 'a' }), refused('and not both')],
      ['a cluster elsewhere', source({ clusterName: 'other/a' }), refused('must be the name of a cluster')],
      ['a file', source({ clusterURL: 'file:///etc/passwd' }), refused('must be a client URL')],
      ['a password', source({ clusterURL: 'http://me:secret@a:2379' }), refused('must be a client URL')],
      ['a password for a cluster of ours', source({ clusterName: 'a', credentialsSecret: 's' }), refused('go with')],
    ],
    'where it is kept': [
      ['a server of one’s own', at('s3://b/k?endpoint=http://minio:9000&disableSSL=true'), accepted()],
      ['Google', at('gs://bucket/key'), accepted()],
      ['Azure', at('azblob://container/key'), accepted()],
      ['a volume', at('file://claim/path/{{ .Name }}.db'), accepted()],
      ['a store nobody knows', at('ftp://bucket/key'), refused('known are s3, gs, azblob, oss and file')],
      ['a bucket alone', at('s3://bucket'), refused('must be the URL of an object')],
      ['no bucket', at('s3:///key'), refused('must be the URL of an object')],
      ['credentials', at('s3://me:secret@bucket/key'), refused('without credentials')],
      ['a path with ..', at('s3://a/../b'), accepted('the operator refuses it, and says why')],
      ['the metadata service', at('s3://a/b?endpoint=http://169.254.169.254'), accepted('the operator refuses it')],
      ['a word nobody knows', at('s3://a/{{ .Colour }}'), accepted('the operator refuses it, and says why')],
      [
        'a Secret elsewhere',
        backup({ destination: { ...least.destination, credentialsSecret: 'a/b' } }),
        refused('must be the name of a Secret'),
      ],
    ],
    'how much of it': [
      ['some', backup({ retention: { maxBackups: 3, maxAgeSeconds: 60 } }), accepted()],
      ['very many', backup({ retention: { maxBackups: 1_000_000_000 } }), accepted()],
      ['none', backup({ retention: { maxBackups: 0 } }), refused('must be from 1')],
      ['fewer than none', backup({ retention: { maxBackups: -1 } }), refused('must be from 1')],
      ['no time', backup({ timeoutSeconds: 0 }), refused('must be from 1')],
      ['half a second', backup({ timeoutSeconds: 0.5 }), refused('must be of type integer')],
      ['words', backup({ timeoutSeconds: '5m' }), refused('must be of type integer')],
    ],
  },
  improbableBackups.read,
);
judge(
  {
    'when it is made': [
      ['five fields', times('30 2 * * MON-FRI'), accepted()],
      ['a word', times('@hourly'), accepted()],
      ['every so often', times('@every 1h30m'), accepted()],
      ['in a zone', times('CRON_TZ=Europe/Berlin 0 3 * * *'), accepted()],
      ['in a zone of its own', schedule({ timeZone: 'America/Argentina/Buenos_Aires' }), accepted()],
      ['never said', times(''), refused('must be five fields')],
      ['six fields', times('0 0 0 * * *'), refused('must be five fields')],
      ['a word nobody knows', times('@reboot'), refused('must be five fields')],
      ['a duration without a unit', times('@every 5'), refused('must be five fields')],
      ['an empty zone', schedule({ timeZone: '' }), refused('must be the name of a time zone')],
      ['two zones', schedule({ schedule: 'TZ=UTC @daily', timeZone: 'UTC' }), refused('said twice')],
      ['with no delay', schedule({ startingDeadlineSeconds: 0 }), refused('must be from 1')],
      ['with nothing left', schedule({ successfulBackupsHistoryLimit: 0 }), accepted()],
      ['with less than nothing left', schedule({ failedBackupsHistoryLimit: -1 }), refused('must be from 0')],
      ['of nothing', schedule({ backupTemplate: null }), refused('spec.backupTemplate')],
      [
        'of a template without a source',
        schedule({ backupTemplate: { ...least, source: {} } }),
        refused('must be set'),
      ],
    ],
  },
  improbableSchedules.read,
);
