import type { Memory } from '../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../core/cluster/model/names.ts';
import {
  type ManifestPart,
  type MemberTemplate,
  type NameCheck,
  type Naming,
  ports,
} from '../../core/cluster/model/template.ts';
import { plaintextAnnotation } from '../../core/cluster/status/plaintext.ts';
import { certificateFiles, managedOf, operatorSecretOf, ownFiles } from '../common/certificates.ts';
import type { ReadCluster } from '../common/dialect.ts';
import { imagesOf } from '../common/image.ts';
import { environmentFor, passedFields } from '../common/member-settings.ts';
import type { Parsed } from '../common/schema/parsed.ts';
import { pauseOf } from '../common/status/held-by.ts';
import { recordedBootstrap } from '../common/status/recorded-bootstrap.ts';
import { type EtcdClusterResource, readEtcdCluster } from './read.ts';
import type { PodPolicy } from './spec.ts';

export const group = 'etcd.database.coreos.com';
export const version = 'v1beta2';
export const clusterLabel = 'etcd_cluster';

/** The default number of DNS lookups of the init container, one per second. */
const defaultNameTries = 30;
const defaultBusybox = 'busybox:1.28.0-glibc';

/** Reads an EtcdCluster and translates it into the core's types. */
export function readCluster(raw: unknown): Parsed<ReadCluster> {
  const read = readEtcdCluster(raw);
  return read.ok ? { ok: true, value: translate(read.value) } : read;
}

function translate(resource: EtcdClusterResource): ReadCluster {
  const { metadata, spec } = resource;
  const { name, namespace, uid } = metadata;
  const naming = namingOf(resource);
  const template = templateOf(resource);
  const scheme = template.peerTLS === undefined ? 'http' : 'https';
  const suffix = `${naming.peerService}.${namespace}.svc${naming.domain}:${ports.peer}`;
  return {
    blueprint: {
      intent: {
        name,
        namespace,
        uid,
        size: spec.size,
        version: spec.version,
        ...pauseOf(metadata.annotations?.[holdAnnotation], spec),
        memberNames: 'random',
        replaceAfterSeconds: spec.replaceMemberAfterSeconds,
        keepVolumesSeconds: spec.keepRemovedVolumesSeconds,
        peerURLOf: (member) => `${scheme}://${member}.${suffix}`,
        ...imagesOf(spec),
      },
      owner: { apiVersion: `${group}/${version}`, kind: 'EtcdCluster', name, uid, controller: true },
      naming,
      template,
      certificateFiles: ownFiles(name),
      acceptsPlaintext: metadata.annotations?.[plaintextAnnotation(group)] === 'true',
      volumesOutlive: spec.volumeClaimPolicy === 'Retain',
    },
    memory: memoryOf(resource),
    operatorSecret: operatorSecretOf(spec.TLS),
    managedCertificates: managedOf(spec.TLS),
    operatorCredentials: spec.auth?.operatorCredentials,
    backupBeforeUpgrade: spec.backupBeforeUpgrade?.like,
    peers: undefined,
  };
}

/** The annotation with the UID of a restore that pauses the reconciliation of the cluster. */
export const holdAnnotation = `${group}/restoring`;

const namingOf = ({ metadata: { name }, spec }: EtcdClusterResource): Naming => ({
  prefix: group,
  clusterLabels: { app: 'etcd', [clusterLabel]: name },
  memberLabel: 'etcd_node',
  versionAnnotation: 'etcd.version',
  peerService: name,
  clientService: `${name}-client`,
  domain: spec.pod?.ClusterDomain ?? '',
  ports: { service: { client: 'client', peer: 'peer' }, container: { client: 'client', peer: 'server' } },
  data: { mountPath: '/var/etcd', directory: '/var/etcd/data' },
});

function templateOf({ metadata, spec }: EtcdClusterResource): MemberTemplate {
  const pod = spec.pod ?? {};
  return {
    labels: pod.labels ?? {},
    annotations: pod.annotations ?? {},
    env: [...environmentFor(spec), ...(pod.etcdEnv ?? [])],
    passed: passedFields(pod),
    resources: pod.resources,
    nodeSelector: pod.nodeSelector,
    affinity: affinityOf(pod, metadata.name),
    tolerations: pod.tolerations,
    securityContext: pod.securityContext,
    claim: pod.persistentVolumeClaimSpec,
    nameCheck: nameCheckOf(pod.busyboxImage, pod.DNSTimeoutInSecond),
    ...certificateFiles(metadata.name, spec.TLS),
  };
}

const affinityOf = ({ affinity, antiAffinity }: PodPolicy, name: string): ManifestPart | undefined =>
  affinity ?? (antiAffinity === true ? strictlyApart(name) : undefined);

function nameCheckOf(image: string | undefined, seconds: number | undefined): NameCheck | undefined {
  if (image === undefined && seconds === undefined) return undefined;
  return { image: image || defaultBusybox, tries: seconds || defaultNameTries };
}

function memoryOf({ status }: EtcdClusterResource): Memory {
  const { bootstrap, clusterId, memberStatus, currentVersion } = status;
  const known = memberStatus?.filter(({ role }) => role === 'voter').map(({ name }) => name);
  const voters = (known ?? namedByOriginal(status)) as MemberName[];
  return { bootstrap: recordedBootstrap(bootstrap), clusterId, voters, version: currentVersion || undefined };
}

/**
 * The original lists only members with running pods. Our status has the list too, but always with `bootstrap`. A member
 * that is listed twice counts once: the API server refuses a status with two members of one name.
 */
const namedByOriginal = ({ bootstrap, members }: EtcdClusterResource['status']): readonly string[] =>
  bootstrap === undefined ? [...new Set([...(members?.ready ?? []), ...(members?.unready ?? [])])] : [];

const strictlyApart = (name: string): ManifestPart => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { etcd_cluster: name } } },
    ],
  },
});
