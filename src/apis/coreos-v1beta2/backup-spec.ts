import { z } from 'zod';
import { secretName, serviceAccountName } from '../common/member-settings.ts';
import {
  oneTimeZone,
  schedule,
  startingDeadlineSeconds,
  timeZone,
  validateSchedule,
} from '../common/schedule-settings.ts';
import { looksLike, text, withRules } from '../common/schema/rule.ts';
import { storageTypes, storeFields, storeIsNamed } from './store-spec.ts';

const int32 = 2_147_483_647;

const endpoint = withRules(
  text(512),
  looksLike(/^(https?:\/\/)?[^/?#@, ]+\/?$/, 'must be a client URL such as https://db-client.default.svc:2379'),
);

/** An integer that is not negative, with the original's message. */
const notNegative = (field: string) =>
  withRules(z.int(), {
    cel: `self >= 0 && self <= ${int32}`,
    message: `spec.BackupPolicy.${field} should not be lower than 0, nor higher than ${int32}`,
    holds: (value) => value >= 0 && value <= int32,
  });

const timeout = withRules(z.int(), {
  cel: `self <= ${int32}`,
  message: `must not be higher than ${int32}`,
  holds: (value) => value <= int32,
});

const policyFields = z.object({
  timeoutInSecond: timeout
    .optional()
    .describe('timeoutInSecond is how long one backup may take. Defaults to 60; 0 and below mean the default.'),
  backupIntervalInSecond: notNegative('BackupIntervalInSecond')
    .optional()
    .describe(
      'backupIntervalInSecond is the time between backups; the first starts at once. With 0, the default, and without schedule, one backup is made.',
    ),
  schedule: schedule.optional(),
  timeZone: timeZone.optional(),
  startingDeadlineSeconds: startingDeadlineSeconds.optional(),
  maxBackups: notNegative('MaxBackups')
    .optional()
    .describe(
      'maxBackups is the number of newest backups of this resource to keep. With 0, the default, all are kept.',
    ),
  maxAgeInSecond: notNegative('MaxAgeInSecond')
    .optional()
    .describe(
      'maxAgeInSecond is the age at which backups of this resource are deleted. The newest successful backup always stays.',
    ),
  suspend: z.boolean().optional().describe('suspend stops new backups while it is true.'),
  compression: z
    .enum(['none', 'gzip', 'zstd'])
    .optional()
    .describe(
      'compression is how snapshots are stored: none, the default, gzip or zstd. etcdctl reads only uncompressed snapshots.',
    ),
});

interface Policy {
  readonly backupIntervalInSecond?: number | undefined;
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
}

const backupPolicy = withRules(
  policyFields,
  {
    cel: '!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0',
    message: 'schedule and backupIntervalInSecond exclude each other: set one of them',
    holds: ({ schedule: times, backupIntervalInSecond: interval }: Policy) => times === undefined || !interval,
  },
  {
    cel: '!has(self.timeZone) || has(self.schedule)',
    message: 'timeZone applies to schedule: set schedule, or leave out timeZone',
    holds: (policy: Policy) => policy.timeZone === undefined || policy.schedule !== undefined,
  },
  oneTimeZone,
)
  .superRefine(validateSchedule)
  .describe('backupPolicy sets when backups are made and how many are kept.');

interface Sources {
  readonly etcdEndpoints?: readonly string[] | undefined;
  readonly etcdCluster?: unknown;
}

const hasEndpoints = ({ etcdEndpoints }: Sources): boolean => (etcdEndpoints ?? []).length > 0;
const celEndpoints = '(has(self.etcdEndpoints) && size(self.etcdEndpoints) > 0)';

const fields = z.object({
  etcdEndpoints: z
    .array(endpoint)
    .max(64)
    .optional()
    .describe(
      'etcdEndpoints are client URLs of members of one cluster. The snapshot is taken from a member with a leader and the highest revision; unreachable members are skipped.',
    ),
  etcdCluster: z
    .object({
      name: withRules(text(253), looksLike(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of an EtcdCluster')),
    })
    .optional()
    .describe(
      'etcdCluster is an EtcdCluster in this namespace, instead of etcdEndpoints. Its endpoints and credentials are found by the operator.',
    ),
  clientTLSSecret: secretName
    .optional()
    .describe(
      'clientTLSSecret is the Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt (or tls.crt, tls.key and ca.crt), if etcd requires TLS.',
    ),
  storageType: z
    .enum(storageTypes)
    .describe('storageType is the kind of store. The field with the same name in lower case has its settings.'),
  backupPolicy: backupPolicy.optional(),
  serviceAccountName: serviceAccountName
    .optional()
    .describe(
      'serviceAccountName is the ServiceAccount of the backup pod, for a workload identity. The operator does not mount its token.',
    ),
  ...storeFields,
});

export const etcdBackupSpec = withRules(
  fields,
  {
    cel: `${celEndpoints} || has(self.etcdCluster)`,
    message: 'spec.etcdEndpoints should not be empty, unless etcdCluster is set',
    holds: (spec) => hasEndpoints(spec) || spec.etcdCluster !== undefined,
  },
  {
    cel: `!(${celEndpoints} && has(self.etcdCluster))`,
    message: 'etcdEndpoints and etcdCluster exclude each other: set one of them',
    holds: (spec) => !(hasEndpoints(spec) && spec.etcdCluster !== undefined),
  },
  ...storeIsNamed('storageType'),
);

export type EtcdBackupSpec = z.output<typeof etcdBackupSpec>;
