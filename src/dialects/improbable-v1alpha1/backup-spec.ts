import { z } from 'zod';
import { counted } from '../counted.ts';
import { secretName, serviceAccountName } from '../member-settings.ts';
import { looksLike, ruled, text } from '../rule.ts';
import { clusterName } from './names.ts';

const clusterURL = ruled(
  text(512),
  looksLike(/^(https?:\/\/)?[^/?#@, ]+\/?$/, 'must be a client URL such as http://my-cluster:2379'),
).describe('Client URL of an etcd, which may be a stranger to the operator.');

interface Source {
  readonly clusterURL?: string | undefined;
  readonly clusterName?: string | undefined;
  readonly tlsSecret?: string | undefined;
  readonly credentialsSecret?: string | undefined;
}

const source = ruled(
  z.object({
    clusterURL: clusterURL.optional(),
    clusterName: clusterName
      .optional()
      .describe('An EtcdCluster of this namespace, in place of clusterURL: how to reach and enter it is found out.'),
    tlsSecret: secretName
      .optional()
      .describe(
        'Secret with tls.crt, tls.key and ca.crt (or etcd-client.crt, etcd-client.key and etcd-client-ca.crt), where the ' +
          'etcd at clusterURL wants TLS.',
      ),
    credentialsSecret: secretName
      .optional()
      .describe('Secret with username and password, where the etcd at clusterURL wants them.'),
  }),
  {
    cel: 'has(self.clusterURL) != has(self.clusterName)',
    says: 'one of clusterURL and clusterName must be set, and not both',
    holds: (of: Source) => (of.clusterURL === undefined) !== (of.clusterName === undefined),
  },
  {
    cel: '!has(self.clusterName) || !(has(self.tlsSecret) || has(self.credentialsSecret))',
    says: 'tlsSecret and credentialsSecret go with clusterURL: what an EtcdCluster wants, it says itself',
    holds: (of: Source) => !of.clusterName || !(of.tlsSecret || of.credentialsSecret),
  },
).describe('What is saved.');

const destination = z
  .object({
    objectURLTemplate: ruled(
      text(2048),
      looksLike(
        /^(s3|gs|azblob|oss|file):\/\/[^/@]+\/.+$/,
        'must be the URL of an object such as s3://bucket/path/{{ .UID }}.db, without credentials; known are s3, gs, azblob, oss and file',
      ),
    ).describe(
      'URL of the object; of file:// the bucket is a volume claim of this namespace. {{ .Name }}, {{ .Namespace }}, ' +
        '{{ .UID }} and {{ .CreationTimestamp }} are those of the EtcdBackup. What is there is replaced when the new one is whole.',
    ),
    credentialsSecret: secretName
      .optional()
      .describe(
        'Secret that opens the store. Without it and without a serviceAccountName, what the operator was given is used.',
      ),
  })
  .describe('Where it is kept.');

const retention = z
  .object({
    maxBackups: counted(1).optional().describe('How many of the newest are kept.'),
    maxAgeSeconds: counted(1).optional().describe('How old they may become; the newest good one always stays.'),
  })
  .describe(
    'Which objects of the schedule that this belongs to stay in the store. Nothing that the schedule has not made is deleted.',
  );

export const etcdBackupSpec = z.object({
  source,
  destination,
  serviceAccountName: serviceAccountName
    .optional()
    .describe('Account of the pod that makes the backup, for a workload identity. Its token is not mounted by us.'),
  timeoutSeconds: counted(1).optional().describe('How long the backup may take; 600 if left out.'),
  compression: z
    .enum(['none', 'gzip', 'zstd'])
    .optional()
    .describe('How the snapshot is stored; etcdctl reads only one that is stored as it is.'),
  retention: retention.optional(),
});

export type EtcdBackupSpec = z.output<typeof etcdBackupSpec>;
