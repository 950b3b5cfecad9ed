import type { Memory } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { type MemberTemplate, type NameCheck, type Naming, type Passed, ports } from '../../core/model/template.ts';
import { plaintextAnnotation } from '../../core/status/plaintext.ts';
import { certificatesOf, managedOf, operatorSecretOf, ownFiles } from '../certificates.ts';
import type { ReadCluster } from '../dialect.ts';
import { imagesOf } from '../image.ts';
import { environmentFor, passedFields } from '../member-settings.ts';
import type { Parsed } from '../parsed.ts';
import { type EtcdClusterResource, readEtcdCluster } from './read.ts';
import type { PodPolicy } from './spec.ts';

export const group = 'etcd.database.coreos.com';
export const version = 'v1beta2';
export const clusterLabel = 'etcd_cluster';

/** How long the init container looks for its pod's name when nobody says how long. */
const defaultNameTries = 30;
const defaultBusybox = 'busybox:1.28.0-glibc';

/** Reads an EtcdCluster as the core understands it. */
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
        ...{ name, namespace, uid, size: spec.size, version: spec.version },
        ...pauseOf(resource),
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
      disksOutlive: spec.volumeClaimPolicy === 'Retain',
    },
    memory: memoryOf(resource),
    operatorSecret: operatorSecretOf(spec.TLS),
    managedCertificates: managedOf(spec.TLS),
    operatorCredentials: spec.auth?.operatorCredentials,
    backupBeforeUpgrade: spec.backupBeforeUpgrade?.like,
    peers: undefined,
  };
}

/** A restore puts its own uid there while it changes what the operator otherwise looks after. */
export const holdAnnotation = `${group}/restoring`;

function pauseOf({ metadata, spec }: EtcdClusterResource): { readonly paused: boolean; readonly heldBy?: string } {
  const heldBy = metadata.annotations?.[holdAnnotation];
  return heldBy === undefined ? { paused: spec.paused } : { paused: true, heldBy };
}

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
    ...certificatesOf(metadata.name, spec.TLS),
  };
}

const affinityOf = ({ affinity, antiAffinity }: PodPolicy, name: string): Passed | undefined =>
  affinity ?? (antiAffinity === true ? strictlyApart(name) : undefined);

function nameCheckOf(image: string | undefined, seconds: number | undefined): NameCheck | undefined {
  if (image === undefined && seconds === undefined) return undefined;
  return { image: image || defaultBusybox, tries: seconds || defaultNameTries };
}

function memoryOf({ status }: EtcdClusterResource): Memory {
  const { bootstrap, clusterId, memberStatus, currentVersion } = status;
  const known = memberStatus?.filter(({ role }) => role === 'voter').map(({ name }) => name);
  const voters = (known ?? namedByOriginal(status)) as CarrierName[];
  return { bootstrap: bootstrap as Memory['bootstrap'], clusterId, voters, version: currentVersion || undefined };
}

/** The original says no more of members than whose pods run. We have said it too, but then also how the cluster was formed. */
const namedByOriginal = ({ bootstrap, members }: EtcdClusterResource['status']): readonly string[] =>
  bootstrap === undefined ? [...(members?.ready ?? []), ...(members?.unready ?? [])] : [];

const strictlyApart = (name: string): Passed => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { etcd_cluster: name } } },
    ],
  },
});
