import { z } from 'zod';
import type { Passed } from '../core/model/template.ts';
import { notTooMuch } from './pod-budget.ts';
import { listBy, looksLike, type Rule, ruled, text } from './rule.ts';

/** What both APIs let users say of etcd and its pods beyond what the originals did, in the same words. */

const int32 = 2_147_483_647;

export const clusterSize = ruled(z.int(), {
  cel: 'self >= 1 && self <= 9',
  says: 'must be from 1 to 9: an etcd cluster cannot have fewer members, and more make it slower, not safer',
  holds: (members) => members >= 1 && members <= 9,
});

export const paused = z
  .boolean()
  .optional()
  .transform((written) => written ?? false)
  .describe('true: the operator leaves the cluster as it is until this is false again.');

const defaultPatience = 300;

export const replaceMemberAfterSeconds = ruled(z.int(), {
  cel: `self >= 1 && self <= ${int32}`,
  says: `must be from 1 to ${int32} seconds: the larger, the longer an unreachable member is waited for`,
  holds: (seconds) => seconds >= 1 && seconds <= int32,
})
  .optional()
  .transform((written) => written ?? defaultPatience)
  .describe(
    'How long a member may be out of reach before it is replaced by a new one; ' +
      `${defaultPatience} if left out. Below a minute, members that only restart may be replaced too.`,
  );

export const secretName = ruled(
  text(253),
  looksLike(
    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/,
    "must be the name of a Secret in the cluster's own namespace",
  ),
);

const largestQuota = 64 * 1024 ** 3;

export const quotaBackendBytes = ruled(z.int(), {
  cel: `self >= 1048576 && self <= ${largestQuota}`,
  says: 'must be from 1 MiB (1048576) to 64 GiB (68719476736) bytes; etcd recommends at most 8 GiB',
  holds: (bytes) => bytes >= 1024 ** 2 && bytes <= largestQuota,
}).describe(
  'Size of the database, in bytes, from which etcd takes no more writes. Keep it well below the size of the volume.',
);

const duration = /^([1-9][0-9]{0,5}(h|m|s))+$/;
const revisions = /^[1-9][0-9]{0,9}$/;

interface AutoCompaction {
  readonly mode: 'periodic' | 'revision';
  readonly retention: string;
}

const fitting: Rule<AutoCompaction> = {
  cel: `self.retention.matches(self.mode == 'periodic' ? r'${duration.source}' : r'${revisions.source}')`,
  says: 'retention must be a time such as 1h or 30m where mode is periodic, and a number of revisions where it is revision',
  holds: ({ mode, retention }) => (mode === 'periodic' ? duration : revisions).test(retention),
};

export const autoCompaction = ruled(
  z.object({
    mode: z.enum(['periodic', 'revision']).describe('By time, or by number of revisions.'),
    retention: text(32).describe('How much history is kept: a time such as 1h, or a number of revisions.'),
  }),
  fitting,
).describe(
  'How etcd forgets old revisions by itself; without it, it keeps them until a client compacts. From etcd 3.3 on.',
);

/** etcd before 3.3 has no modes, and reads a time as hours. Where no version may be written, such an etcd is meant. */
export const compactionNeedsNewer = {
  cel: "!has(self.autoCompaction) || !self.version.matches(r'^(v?3[.][0-2][.].*)?$')",
  says: 'autoCompaction needs etcd 3.3 or newer: raise version or leave it out',
  holds: ({ autoCompaction: wanted, version }: { autoCompaction?: unknown; version: string }) =>
    wanted === undefined || !/^v?3[.][0-2][.]/.test(version),
} as const;

interface Settings {
  readonly quotaBackendBytes?: number | undefined;
  readonly autoCompaction?: AutoCompaction | undefined;
}

/** As variables, which a version that does not know one of them does not mind. */
export function environmentFor({ quotaBackendBytes: quota, autoCompaction: compaction }: Settings): readonly Passed[] {
  const variables = {
    ETCD_QUOTA_BACKEND_BYTES: quota?.toString(),
    ETCD_AUTO_COMPACTION_MODE: compaction?.mode,
    ETCD_AUTO_COMPACTION_RETENTION: compaction?.retention,
  };
  return Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

const objectName = (what: string) =>
  ruled(text(253), looksLike(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, `must be the name of a ${what}`));

export const imagePullSecrets = listBy('name', z.object({ name: objectName('Secret') }), 16).describe(
  "Secrets of the cluster's namespace with which images are pulled.",
);
export const priorityClassName = objectName('PriorityClass').describe(
  'How important the pods are when nodes run short; the PriorityClass must exist.',
);
export const serviceAccountName = objectName('ServiceAccount').describe(
  'Account under which the pods run, for image pull secrets and policies. Its token is never mounted.',
);
export const topologySpreadConstraints = z
  .array(
    notTooMuch(
      z.looseObject({
        topologyKey: text(317),
        maxSkew: z.int().min(1),
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
      }),
    ),
  )
  .max(16)
  .describe('How members are spread over zones or nodes, in the words of a pod.');

interface Placement {
  readonly imagePullSecrets?: readonly Passed[] | undefined;
  readonly priorityClassName?: string | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly topologySpreadConstraints?: readonly Passed[] | undefined;
}

/** Those fields of a pod that are passed on as they are. */
export function passedFields(pod: Placement): Passed {
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

export const certificateLifetimeHours = ruled(z.int(), {
  cel: `self >= 1 && self <= ${longestLifetime}`,
  says: `must be from 1 to ${longestLifetime} hours (two years)`,
  holds: (hours) => hours >= 1 && hours <= longestLifetime,
}).describe(
  `How long certificates are valid; ${defaultLifetimeHours} (90 days) if left out. They are renewed when about two thirds of it are over, and at once when this is changed.`,
);

export const rotate = text(253).describe(
  'Any text, such as a date: whenever it is changed to another one, new authorities take the place of the old ones, while members and clients go on.',
);

export const backupBeforeUpgrade = z
  .object({
    like: objectName('EtcdBackup of the same namespace').describe(
      'EtcdBackup whose store, Secret and compression are used. What is made is called <cluster>-before-<version>, and stored under ' +
        'the name that this one has there, with -<namespace>.<cluster>-before-<version> behind it.',
    ),
  })
  .describe('A backup is made, and must be good, before members move to another minor version of etcd.');

/** How the operator enters an etcd that has users. */
export const auth = z
  .object({
    operatorCredentials: objectName("Secret of the cluster's own namespace").describe(
      'Secret with username and password of a user with the role root, as whom the operator enters.',
    ),
  })
  .describe("Users of etcd's own; to be set before auth is switched on in etcd.");
