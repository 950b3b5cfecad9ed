import { z } from 'zod';
import { imageRepository, longestVersion, oneDigest, pinnableForm, splitDigest } from '../common/image.ts';
import { noManagedSetting } from '../common/managed-settings.ts';
import {
  auth,
  autoCompaction,
  backupBeforeUpgrade,
  clusterSize,
  compactionNeedsEtcd33,
  imagePullSecrets,
  paused,
  priorityClassName,
  quotaBackendBytes,
  replaceMemberAfterSeconds,
  serviceAccountName,
  topologySpreadConstraints,
} from '../common/member-settings.ts';
import { limitedPodText } from '../common/pod-budget.ts';
import {
  affinity,
  claimSpec,
  environment,
  labelValue,
  nodeSelector,
  podSecurityContext,
  qualifiedNames,
  resources,
  toleration,
} from '../common/schema/kubernetes-types.ts';
import { looksLike, table, text, withRules } from '../common/schema/rule.ts';
import { keepRemovedVolumesSeconds } from '../common/status/removed-volumes.ts';
import { managedTlsNeedsEtcd32, tls } from '../common/tls.ts';
import { noReservedAnnotation, noReservedLabel, ownPrefix } from './reserved.ts';

export const defaultVersion = '3.2.13';

const int32 = 2_147_483_647;

const released = new RegExp(`^(${pinnableForm})?$`);

const version = withRules(
  text(longestVersion),
  looksLike(
    released,
    'must be a released etcd version of three numbers, such as 3.5.21 or v3.5.21; ' +
      'a digest of 64 hexadecimal digits may follow it: 3.5.21@sha256:...',
  ),
)
  .default(defaultVersion)
  .transform((written) => written.replace(/^v/, '') || defaultVersion);

const busyboxImage = withRules(
  text(512),
  looksLike(/^([A-Za-z0-9][-A-Za-z0-9._:/@]*)?$/, 'must be the name of an image, such as busybox:1.28.0-glibc'),
);

const dnsTimeout = withRules(z.int(), {
  cel: `self >= 0 && self <= ${int32}`,
  message: `must be from 0 to ${int32}`,
  holds: (seconds) => seconds >= 0 && seconds <= int32,
});

const clusterDomain = withRules(
  text(69), // with the longest member, cluster and namespace names: 253 characters, the limit of DNS
  looksLike(
    /^([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must begin with a dot, such as .cluster.local, because it is appended to host names',
  ),
);

const podFields = z.object({
  labels: withRules(table(labelValue, 64), noReservedLabel, qualifiedNames('label'))
    .optional()
    .describe(`labels are added to the member pods. Reserved: app, etcd_* and ${ownPrefix}*.`),
  annotations: withRules(table(text(8192), 30), noReservedAnnotation, qualifiedNames('annotation'))
    .optional()
    .describe(`annotations are added to the member pods. Reserved: etcd.version and ${ownPrefix}*.`),
  nodeSelector: nodeSelector.optional().describe('nodeSelector selects the nodes for members by label.'),
  affinity: affinity
    .optional()
    .describe('affinity is the affinity of the member pods. It replaces the default, which prefers different nodes.'),
  antiAffinity: z
    .boolean()
    .optional()
    .describe('antiAffinity is deprecated. If true and affinity is not set, members must run on different nodes.'),
  resources: resources.optional().describe('resources are the requests and limits of the etcd container.'),
  tolerations: z.array(toleration).max(64).optional().describe('tolerations are the tolerations of the member pods.'),
  etcdEnv: environment(noManagedSetting('spec.TLS'))
    .optional()
    .describe(
      'etcdEnv are environment variables of the etcd container, for etcd settings that the operator does not manage.',
    ),
  persistentVolumeClaimSpec: claimSpec
    .optional()
    .describe(
      'persistentVolumeClaimSpec is the PersistentVolumeClaim of each member. Without it, the data of a member is lost with its pod.',
    ),
  securityContext: podSecurityContext
    .optional()
    .describe('securityContext is the security context of the member pods.'),
  imagePullSecrets: imagePullSecrets.optional(),
  priorityClassName: priorityClassName.optional(),
  serviceAccountName: serviceAccountName.optional(),
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  busyboxImage: busyboxImage
    .optional()
    .describe(
      'busyboxImage is the image of the init container check-dns. The container exists only if this or DNSTimeoutInSecond is set.',
    ),
  DNSTimeoutInSecond: dnsTimeout
    .optional()
    .describe('DNSTimeoutInSecond is how long check-dns waits for the DNS name of its pod. 0 means the default.'),
  ClusterDomain: clusterDomain
    .optional()
    .describe(
      'ClusterDomain is the DNS domain of the Kubernetes cluster with a leading dot (.cluster.local). It is appended to member names.',
    ),
});

const pod = withRules(
  podFields,
  limitedPodText<z.output<typeof podFields>>(
    { env: 'etcdEnv', annotations: 'annotations', hasAnnotations: 'has(self.annotations)' },
    ({ etcdEnv, annotations }) => ({ etcdEnv, annotations }),
  ),
);

const fields = z.object({
  size: clusterSize.describe(
    'size is the number of members, from 1 to 9. An even size tolerates no more failures than one member fewer.',
  ),
  version: version.describe(
    'version is the version of etcd: three numbers, with or without a leading v. A change upgrades one member at a time. ' +
      'With a digest (3.5.35@sha256:<digest>), members run exactly that image.',
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
      'volumeClaimPolicy is what happens to the volumes of members when the cluster is deleted. With Retain, a new cluster ' +
        'of the same name uses them again. Defaults to Delete.',
    ),
  pod: pod.optional().describe('pod has the settings of the member pods.'),
  quotaBackendBytes: quotaBackendBytes.optional(),
  autoCompaction: autoCompaction.optional(),
  auth: auth.optional(),
  backupBeforeUpgrade: backupBeforeUpgrade.optional(),
  TLS: tls.optional().describe('TLS is the encryption between members, and between members and clients.'),
});

export const etcdClusterSpec = withRules(
  fields,
  oneDigest,
  compactionNeedsEtcd33,
  managedTlsNeedsEtcd32('TLS'),
).transform(splitDigest);

export type PodPolicy = z.output<typeof pod>;
