import { z } from 'zod';
import { imageRepository, longestVersion, oneDigest, pinnableForm, withDigestApart } from '../image.ts';
import { keepRemovedVolumesSeconds } from '../kept-volumes.ts';
import {
  affinity,
  claimSpec,
  environment,
  labelValue,
  nodeSelector,
  podSecurityContext,
  properNames,
  resources,
  toleration,
} from '../kubernetes-types.ts';
import { noManagedSetting } from '../managed-settings.ts';
import {
  auth,
  autoCompaction,
  backupBeforeUpgrade,
  clusterSize,
  compactionNeedsNewer,
  imagePullSecrets,
  paused,
  priorityClassName,
  quotaBackendBytes,
  replaceMemberAfterSeconds,
  serviceAccountName,
  topologySpreadConstraints,
} from '../member-settings.ts';
import { limitedTexts } from '../pod-budget.ts';
import { looksLike, ruled, table, text } from '../rule.ts';
import { managedNeedsNewer, tls } from '../tls.ts';
import { noReservedAnnotation, noReservedLabel, ownPrefix } from './reserved.ts';

export const defaultVersion = '3.2.13';

const int32 = 2_147_483_647;

const released = new RegExp(`^(${pinnableForm})?$`);

const version = ruled(
  text(longestVersion),
  looksLike(
    released,
    'must be a released etcd version of three numbers, such as 3.5.21 or v3.5.21; ' +
      'a digest of 64 hexadecimal digits may follow it: 3.5.21@sha256:...',
  ),
)
  .default(defaultVersion)
  .transform((written) => written.replace(/^v/, '') || defaultVersion);

const busyboxImage = ruled(
  text(512),
  looksLike(/^([A-Za-z0-9][-A-Za-z0-9._:/@]*)?$/, 'must be the name of an image, such as busybox:1.28.0-glibc'),
);

const dnsTimeout = ruled(z.int(), {
  cel: `self >= 0 && self <= ${int32}`,
  says: `must be from 0 to ${int32}`,
  holds: (seconds) => seconds >= 0 && seconds <= int32,
});

const clusterDomain = ruled(
  text(69), // with the longest names of member, cluster and namespace this makes 253 characters, DNS' limit
  looksLike(
    /^([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must begin with a dot, such as .cluster.local, because it is appended to names as it is',
  ),
);

const podFields = z.object({
  labels: ruled(table(labelValue, 64), noReservedLabel, properNames('label'))
    .optional()
    .describe(`Labels added to the members' pods. Reserved: app, etcd_* and ${ownPrefix}*.`),
  annotations: ruled(table(text(8192), 30), noReservedAnnotation, properNames('annotation'))
    .optional()
    .describe(`Annotations added to the members' pods. Reserved: etcd.version and ${ownPrefix}*.`),
  nodeSelector: nodeSelector.optional().describe('Labels of the nodes on which members may run.'),
  affinity: affinity
    .optional()
    .describe('Where members may run, in the words of a pod. Replaces the default: preferably apart.'),
  antiAffinity: z
    .boolean()
    .optional()
    .describe('Deprecated: true keeps members on different nodes by force, unless affinity is set.'),
  resources: resources.optional().describe('Requests and limits of the etcd container.'),
  tolerations: z.array(toleration).max(64).optional().describe('Taints of nodes that members tolerate.'),
  etcdEnv: environment(noManagedSetting('spec.TLS'))
    .optional()
    .describe('Environment of the etcd container, for settings of etcd that the operator does not manage itself.'),
  persistentVolumeClaimSpec: claimSpec
    .optional()
    .describe("A volume claim for each member. Without one, a member's data lives as long as its pod."),
  securityContext: podSecurityContext.optional().describe("The pods' security context."),
  imagePullSecrets: imagePullSecrets.optional(),
  priorityClassName: priorityClassName.optional(),
  serviceAccountName: serviceAccountName.optional(),
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  busyboxImage: busyboxImage
    .optional()
    .describe('Image of the init container check-dns, which exists only if this or DNSTimeoutInSecond is set.'),
  DNSTimeoutInSecond: dnsTimeout
    .optional()
    .describe('How many seconds check-dns waits for the name of its pod; 0 means the default.'),
  ClusterDomain: clusterDomain
    .optional()
    .describe('DNS domain of the Kubernetes cluster with a dot before it (.cluster.local), appended to member names.'),
});

const pod = ruled(
  podFields,
  limitedTexts<z.output<typeof podFields>>(
    { env: 'etcdEnv', annotations: 'annotations', hasAnnotations: 'has(self.annotations)' },
    ({ etcdEnv, annotations }) => ({ etcdEnv, annotations }),
  ),
);

const fields = z.object({
  size: clusterSize.describe(
    'How many members the cluster has, from 1 to 9. An even number survives no more failures than one less.',
  ),
  version: version.describe(
    'Version of etcd, as three numbers with or without a v before them. Changing it upgrades one member after the other. ' +
      'With the digest of its image behind it (3.5.35@sha256:<digest>), members run exactly that image.',
  ),
  repository: imageRepository,
  paused,
  replaceMemberAfterSeconds,
  keepRemovedVolumesSeconds,
  volumeClaimPolicy: z
    .enum(['Retain', 'Delete'])
    .optional()
    .transform((written) => written ?? 'Delete')
    .describe(
      'Whether volumes of members stay when the cluster is deleted, so that it can be made again on them under the same name, ' +
        'or go with it; Delete if left out.',
    ),
  pod: pod.optional().describe("What the members' pods have beside what etcd needs."),
  quotaBackendBytes: quotaBackendBytes.optional(),
  autoCompaction: autoCompaction.optional(),
  auth: auth.optional(),
  backupBeforeUpgrade: backupBeforeUpgrade.optional(),
  TLS: tls.optional().describe('Encryption between members, and between members and clients.'),
});

export const etcdClusterSpec = ruled(fields, oneDigest, compactionNeedsNewer, managedNeedsNewer('TLS')).transform(
  withDigestApart,
);

export type EtcdClusterSpec = z.output<typeof etcdClusterSpec>;
export type PodPolicy = z.output<typeof pod>;
