import { z } from 'zod';
import type { ManifestPart } from '../../core/cluster/model/template.ts';
import { limitedJson } from './pod-budget.ts';
import { listBy, looksLike, text, type ValidationRule, withRules } from './schema/rule.ts';

/** Settings of etcd and its pods that both APIs have and the originals lack. */

const int32 = 2_147_483_647;

export const clusterSize = withRules(z.int(), {
  cel: 'self >= 1 && self <= 9',
  message: 'must be from 1 to 9: an etcd cluster cannot have fewer members, and more make it slower, not safer',
  holds: (members) => members >= 1 && members <= 9,
});

export const paused = z
  .boolean()
  .optional()
  .transform((written) => written ?? false)
  .describe('paused stops the operator from changing the cluster while it is true.');

const defaultReplaceAfterSeconds = 300;

export const replaceMemberAfterSeconds = withRules(z.int(), {
  cel: `self >= 1 && self <= ${int32}`,
  message: `must be from 1 to ${int32} seconds: the operator waits this long for an unreachable member`,
  holds: (seconds) => seconds >= 1 && seconds <= int32,
})
  .optional()
  .transform((written) => written ?? defaultReplaceAfterSeconds)
  .describe(
    'replaceMemberAfterSeconds is how long a member may be unreachable before it is replaced. Defaults to ' +
      `${defaultReplaceAfterSeconds}. Below 60, members that only restart may be replaced too.`,
  );

export const secretName = withRules(
  text(253),
  looksLike(
    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/,
    "must be the name of a Secret in the cluster's own namespace",
  ),
);

const largestQuota = 64 * 1024 ** 3;

export const quotaBackendBytes = withRules(z.int(), {
  cel: `self >= 1048576 && self <= ${largestQuota}`,
  message: 'must be from 1 MiB (1048576) to 64 GiB (68719476736) bytes; etcd recommends at most 8 GiB',
  holds: (bytes) => bytes >= 1024 ** 2 && bytes <= largestQuota,
}).describe(
  'quotaBackendBytes is the size of the database, in bytes, at which etcd rejects writes. Keep it well below the size of the volume.',
);

const duration = /^([1-9][0-9]{0,5}(h|m|s))+$/;
const revisions = /^[1-9][0-9]{0,9}$/;

interface AutoCompaction {
  readonly mode: 'periodic' | 'revision';
  readonly retention: string;
}

const retentionFitsMode: ValidationRule<AutoCompaction> = {
  cel: `self.retention.matches(self.mode == 'periodic' ? r'${duration.source}' : r'${revisions.source}')`,
  message:
    'retention must be a time such as 1h or 30m where mode is periodic, and a number of revisions where it is revision',
  holds: ({ mode, retention }) => (mode === 'periodic' ? duration : revisions).test(retention),
};

export const autoCompaction = withRules(
  z.object({
    mode: z.enum(['periodic', 'revision']).describe('mode is periodic (by time) or revision (by number of revisions).'),
    retention: text(32).describe('retention is how much history is kept: a time such as 1h, or a number of revisions.'),
  }),
  retentionFitsMode,
).describe(
  'autoCompaction makes etcd compact old revisions. Without it, etcd keeps revisions until a client compacts. Needs etcd 3.3 or newer.',
);

/** etcd before 3.3 has no modes and reads a time as hours. An empty version defaults to such an etcd. */
export const compactionNeedsEtcd33 = {
  cel: "!has(self.autoCompaction) || !self.version.matches(r'^(v?3[.][0-2][.].*)?$')",
  message: 'autoCompaction needs etcd 3.3 or newer: raise version or leave it out',
  holds: ({ autoCompaction: wanted, version }: { autoCompaction?: unknown; version: string }) =>
    wanted === undefined || !/^v?3[.][0-2][.]/.test(version),
} as const;

interface Settings {
  readonly quotaBackendBytes?: number | undefined;
  readonly autoCompaction?: AutoCompaction | undefined;
}

/** Settings as environment variables: versions of etcd that lack a setting ignore its variable. */
export function environmentFor({
  quotaBackendBytes: quota,
  autoCompaction: compaction,
}: Settings): readonly ManifestPart[] {
  const variables = {
    ETCD_QUOTA_BACKEND_BYTES: quota?.toString(),
    ETCD_AUTO_COMPACTION_MODE: compaction?.mode,
    ETCD_AUTO_COMPACTION_RETENTION: compaction?.retention,
  };
  return Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

const objectName = (what: string) =>
  withRules(text(253), looksLike(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, `must be the name of a ${what}`));

export const imagePullSecrets = listBy('name', z.object({ name: objectName('Secret') }), 16).describe(
  "imagePullSecrets are Secrets in the cluster's namespace for pulling images.",
);
export const priorityClassName = objectName('PriorityClass').describe(
  'priorityClassName is the PriorityClass of the pods; it must exist.',
);
export const serviceAccountName = objectName('ServiceAccount').describe(
  'serviceAccountName is the ServiceAccount of the pods, for image pull secrets and policies. Its token is never mounted.',
);
export const topologySpreadConstraints = z
  .array(
    limitedJson(
      z.looseObject({
        topologyKey: text(317),
        maxSkew: z.int().min(1),
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
      }),
    ),
  )
  .max(16)
  .describe('topologySpreadConstraints spread members over zones or nodes, as in a pod spec.');

interface Placement {
  readonly imagePullSecrets?: readonly ManifestPart[] | undefined;
  readonly priorityClassName?: string | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly topologySpreadConstraints?: readonly ManifestPart[] | undefined;
}

/** The pod fields that are copied unchanged. */
export function passedFields(pod: Placement): ManifestPart {
  const { imagePullSecrets: secrets, priorityClassName: priority, serviceAccountName: account } = pod;
  const fields = {
    imagePullSecrets: secrets,
    priorityClassName: priority,
    serviceAccountName: account,
    topologySpreadConstraints: pod.topologySpreadConstraints,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const longestLifetime = 2 * 365 * 24;
export const defaultLifetimeHours = 90 * 24;

export const certificateLifetimeHours = withRules(z.int(), {
  cel: `self >= 1 && self <= ${longestLifetime}`,
  message: `must be from 1 to ${longestLifetime} hours (two years)`,
  holds: (hours) => hours >= 1 && hours <= longestLifetime,
}).describe(
  `certificateLifetimeHours is how long certificates are valid. Defaults to ${defaultLifetimeHours} (90 days). Certificates are renewed after about two thirds of it, and at once when this field changes.`,
);

export const rotate = text(253).describe(
  'rotate is any text, such as a date. Each change replaces the CAs with new ones; members and clients keep working.',
);

export const backupBeforeUpgrade = z
  .object({
    like: objectName('EtcdBackup of the same namespace').describe(
      'like is the EtcdBackup with the store, Secret and compression to use. The new EtcdBackup is called ' +
        '<cluster>-before-<version>. Its object has the name of that backup, with -<namespace>.<cluster>-before-<version> appended.',
    ),
  })
  .describe(
    'backupBeforeUpgrade requires a successful backup before members are upgraded to another minor version of etcd.',
  );

/** The operator's credentials for an etcd with auth enabled. */
export const auth = z
  .object({
    operatorCredentials: objectName("Secret of the cluster's own namespace").describe(
      'operatorCredentials is the Secret with username and password of an etcd user with the root role, for the operator.',
    ),
  })
  .describe('auth is for etcd with auth enabled. Set it before auth is enabled in etcd.');
