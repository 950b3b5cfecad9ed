import { z } from 'zod';
import { secretName, serviceAccountName } from '../member-settings.ts';
import { looksLike, ruled, text } from '../rule.ts';
import { judgeTimes, oneZone, schedule, startingDeadlineSeconds, timeZone } from '../schedule-settings.ts';
import { storageTypes, storeFields, storeIsNamed } from './store-spec.ts';

const int32 = 2_147_483_647;

const endpoint = ruled(
  text(512),
  looksLike(/^(https?:\/\/)?[^/?#@, ]+\/?$/, 'must be a client URL such as https://db-client.default.svc:2379'),
);

/** Whole seconds, with the original's words for those below nought. */
const seconds = (field: string) =>
  ruled(z.int(), {
    cel: `self >= 0 && self <= ${int32}`,
    says: `spec.BackupPolicy.${field} should not be lower than 0, nor higher than ${int32}`,
    holds: (value) => value >= 0 && value <= int32,
  });

const timeout = ruled(z.int(), {
  cel: `self <= ${int32}`,
  says: `must not be higher than ${int32}`,
  holds: (value) => value <= int32,
});

const policyFields = z.object({
  timeoutInSecond: timeout.optional().describe('How long one backup may take; 60 if left out or not above 0.'),
  backupIntervalInSecond: seconds('BackupIntervalInSecond')
    .optional()
    .describe('A backup is made at once, and then so often; 0 or left out, without schedule, means once.'),
  schedule: schedule.optional(),
  timeZone: timeZone.optional(),
  startingDeadlineSeconds: startingDeadlineSeconds.optional(),
  maxBackups: seconds('MaxBackups')
    .optional()
    .describe('How many of the newest backups of this resource are kept; 0 or left out means all.'),
  maxAgeInSecond: seconds('MaxAgeInSecond')
    .optional()
    .describe('How old backups of this resource may become; the newest good one always stays.'),
  suspend: z.boolean().optional().describe('true: no backup is started until this is false again.'),
  compression: z
    .enum(['none', 'gzip', 'zstd'])
    .optional()
    .describe('How snapshots are stored; etcdctl reads only those that are stored as they are.'),
});

interface Policy {
  readonly backupIntervalInSecond?: number | undefined;
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
}

const backupPolicy = ruled(
  policyFields,
  {
    cel: '!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0',
    says: 'schedule and backupIntervalInSecond exclude each other: set one of them',
    holds: ({ schedule: times, backupIntervalInSecond: interval }: Policy) => times === undefined || !interval,
  },
  {
    cel: '!has(self.timeZone) || has(self.schedule)',
    says: 'timeZone is that of schedule: set schedule, or leave out timeZone',
    holds: (policy: Policy) => policy.timeZone === undefined || policy.schedule !== undefined,
  },
  oneZone,
)
  .superRefine(judgeTimes)
  .describe('When backups are made, and how many are kept.');

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
      'Client URLs of members of one cluster; of those that know a leader the one that has seen most is asked, and dead ones do no harm.',
    ),
  etcdCluster: z
    .object({ name: ruled(text(253), looksLike(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of an EtcdCluster')) })
    .optional()
    .describe('An EtcdCluster of this namespace, in place of etcdEndpoints: how to reach and enter it is found out.'),
  clientTLSSecret: secretName
    .optional()
    .describe(
      'Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt (or tls.crt, tls.key and ca.crt), where etcd wants TLS.',
    ),
  storageType: z.enum(storageTypes).describe('Kind of store; the field of the same name in small letters says where.'),
  backupPolicy: backupPolicy.optional(),
  serviceAccountName: serviceAccountName
    .optional()
    .describe('Account of the pod that makes the backup, for a workload identity. Its token is not mounted by us.'),
  ...storeFields,
});

export const etcdBackupSpec = ruled(
  fields,
  {
    cel: `${celEndpoints} || has(self.etcdCluster)`,
    says: 'spec.etcdEndpoints should not be empty, unless etcdCluster is set',
    holds: (spec) => hasEndpoints(spec) || spec.etcdCluster !== undefined,
  },
  {
    cel: `!(${celEndpoints} && has(self.etcdCluster))`,
    says: 'etcdEndpoints and etcdCluster exclude each other: set one of them',
    holds: (spec) => !(hasEndpoints(spec) && spec.etcdCluster !== undefined),
  },
  ...storeIsNamed('storageType'),
);

export type EtcdBackupSpec = z.output<typeof etcdBackupSpec>;
