import { z } from 'zod';
import { secretName, serviceAccountName } from '../../common/member-settings.ts';
import { integerFrom } from '../../common/schema/integer-from.ts';
import { looksLike, text, withRules } from '../../common/schema/rule.ts';
import { clusterName } from '../names.ts';

const clusterURL = withRules(
  text(512),
  looksLike(/^(https?:\/\/)?[^/?#@, ]+\/?$/, 'must be a client URL such as http://my-cluster:2379'),
).describe('clusterURL is the client URL of an etcd, which need not be managed by the operator.');

interface Source {
  readonly clusterURL?: string | undefined;
  readonly clusterName?: string | undefined;
  readonly tlsSecret?: string | undefined;
  readonly credentialsSecret?: string | undefined;
}

const sourceField = withRules(
  z.object({
    clusterURL: clusterURL.optional(),
    clusterName: clusterName
      .optional()
      .describe(
        'clusterName is an EtcdCluster in this namespace, instead of clusterURL. Its endpoints and credentials are found by the operator.',
      ),
    tlsSecret: secretName
      .optional()
      .describe(
        'tlsSecret is the Secret with tls.crt, tls.key and ca.crt (or etcd-client.crt, etcd-client.key and etcd-client-ca.crt), ' +
          'if the etcd at clusterURL requires TLS.',
      ),
    credentialsSecret: secretName
      .optional()
      .describe('credentialsSecret is the Secret with username and password, if the etcd at clusterURL requires them.'),
  }),
  {
    cel: 'has(self.clusterURL) != has(self.clusterName)',
    message: 'one of clusterURL and clusterName must be set, and not both',
    holds: (source: Source) => (source.clusterURL === undefined) !== (source.clusterName === undefined),
  },
  {
    cel: '!has(self.clusterName) || !(has(self.tlsSecret) || has(self.credentialsSecret))',
    message: 'tlsSecret and credentialsSecret are only for clusterURL: leave them out with clusterName',
    holds: (source: Source) => !source.clusterName || !(source.tlsSecret || source.credentialsSecret),
  },
).describe('source is the etcd to back up.');

const destination = z
  .object({
    objectURLTemplate: withRules(
      text(2048),
      looksLike(
        /^(s3|gs|azblob|oss|file):\/\/[^/@]+\/.+$/,
        'must be the URL of an object such as s3://bucket/path/{{ .UID }}.db, without credentials; known are s3, gs, azblob, oss and file',
      ),
    ).describe(
      'objectURLTemplate is the URL of the object. With file:// the host is a PersistentVolumeClaim in this namespace. ' +
        '{{ .Name }}, {{ .Namespace }}, {{ .UID }} and {{ .CreationTimestamp }} are those of the EtcdBackup. An existing object is ' +
        'replaced once the new one is complete.',
    ),
    credentialsSecret: secretName
      .optional()
      .describe(
        'credentialsSecret is the Secret with the credentials of the store. Without it and without serviceAccountName, the credentials of the operator are used.',
      ),
  })
  .describe('destination is where the backup is stored.');

const retention = z
  .object({
    maxBackups: integerFrom(1).optional().describe('maxBackups is the number of newest backups to keep.'),
    maxAgeSeconds: integerFrom(1)
      .optional()
      .describe('maxAgeSeconds is the age at which backups are deleted. The newest successful backup always stays.'),
  })
  .describe(
    'retention limits the objects of a schedule in the store. Objects that the schedule did not create are never deleted.',
  );

export const etcdBackupSpec = z.object({
  source: sourceField,
  destination,
  serviceAccountName: serviceAccountName
    .optional()
    .describe(
      'serviceAccountName is the ServiceAccount of the backup pod, for a workload identity. The operator does not mount its token.',
    ),
  timeoutSeconds: integerFrom(1)
    .optional()
    .describe('timeoutSeconds is how long the backup may take. Defaults to 600.'),
  compression: z
    .enum(['none', 'gzip', 'zstd'])
    .optional()
    .describe(
      'compression is how the snapshot is stored: none, the default, gzip or zstd. etcdctl reads only uncompressed snapshots.',
    ),
  retention: retention.optional(),
});

export type EtcdBackupSpec = z.output<typeof etcdBackupSpec>;
