import type { ManagedCertificates } from '../../core/certificates/due.ts';
import { ownSecretsOf } from '../../core/certificates/names.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { CarrierName, Memory } from '../../core/model/cluster.ts';
import {
  type MemberTemplate,
  type NameCheck,
  type Naming,
  type Passed,
  ports,
  type SecretFiles,
} from '../../core/model/template.ts';
import type { ReadCluster, SecretOfClient } from '../dialect.ts';
import { defaultLifetimeHours, environmentFor, passedFields } from '../member-settings.ts';
import type { Parsed } from '../parsed.ts';
import { type EtcdClusterResource, readEtcdCluster } from './read.ts';
import type { EtcdClusterSpec, PodPolicy } from './spec.ts';

export const group = 'etcd.database.coreos.com';
export const version = 'v1beta2';

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
        peerURLOf: (member) => `${scheme}://${member}.${suffix}`,
        imageOf: (tag) => `${spec.repository}:v${tag}`,
      },
      owner: { apiVersion: `${group}/${version}`, kind: 'EtcdCluster', name, uid, controller: true },
      naming,
      template,
      certificateFiles: ownFiles(name),
      disksOutlive: false,
      findsDisks: 'by-owner',
    },
    memory: memoryOf(resource),
    operatorSecret: operatorSecretOf(resource),
    managedCertificates: managedOf(spec),
    operatorCredentials: spec.auth?.operatorCredentials,
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
  clusterLabels: { app: 'etcd', etcd_cluster: name },
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
    ...certificatesOf(metadata.name, spec),
  };
}

type Certified = Pick<MemberTemplate, 'peerTLS' | 'clientTLS' | 'acceptsPlainClients'>;

function certificatesOf(name: string, { TLS }: EtcdClusterSpec): Certified {
  if (TLS === undefined) return { peerTLS: undefined, clientTLS: undefined };
  const { managed, static: given, acceptPlainClients: acceptsPlainClients } = TLS;
  const { peer, client } = managed === undefined ? namedFiles(given?.member ?? {}) : ownFiles(name);
  return { peerTLS: peer, clientTLS: client, acceptsPlainClients };
}

interface MemberSecrets {
  readonly peerSecret?: string | undefined;
  readonly serverSecret?: string | undefined;
}

const namedFiles = ({ peerSecret, serverSecret }: MemberSecrets) => ({
  peer: peerSecret ? peerFiles(peerSecret) : undefined,
  client: serverSecret ? serverFiles(serverSecret) : undefined,
});

const peerFiles = (secret: string): SecretFiles => filesIn(secret, '/etc/etcdtls/member/peer-tls', 'peer');
const serverFiles = (secret: string): SecretFiles => filesIn(secret, '/etc/etcdtls/member/server-tls', 'server');

function ownFiles(cluster: string): NonNullable<Blueprint['certificateFiles']> {
  const { members } = ownSecretsOf(cluster);
  return { peer: peerFiles(members), client: serverFiles(members) };
}

function managedOf({ TLS }: EtcdClusterSpec): ManagedCertificates | undefined {
  if (TLS?.managed === undefined) return undefined;
  const { certificateLifetimeHours, rotate } = TLS.managed;
  return { lifetimeHours: certificateLifetimeHours ?? defaultLifetimeHours, rotate };
}

const affinityOf = ({ affinity, antiAffinity }: PodPolicy, name: string): Passed | undefined =>
  affinity ?? (antiAffinity === true ? strictlyApart(name) : undefined);

function nameCheckOf(image: string | undefined, seconds: number | undefined): NameCheck | undefined {
  if (image === undefined && seconds === undefined) return undefined;
  return { image: image || defaultBusybox, tries: seconds || defaultNameTries };
}

const filesIn = (secret: string, mountPath: string, file: string): SecretFiles => ({
  ...{ secret, mountPath },
  ...{ certificate: `${file}.crt`, key: `${file}.key`, authority: `${file}-ca.crt` },
});

function operatorSecretOf({ spec }: EtcdClusterResource): SecretOfClient | undefined {
  const name = spec.TLS?.static?.operatorSecret;
  if (!name) return undefined;
  return { name, certificate: 'etcd-client.crt', key: 'etcd-client.key', authority: 'etcd-client-ca.crt' };
}

function memoryOf({ status }: EtcdClusterResource): Memory {
  const { bootstrap, clusterId, memberStatus = [], currentVersion } = status;
  const voters = memberStatus.filter(({ role }) => role === 'voter').map(({ name }) => name as CarrierName);
  return { bootstrap: bootstrap as Memory['bootstrap'], clusterId, voters, version: currentVersion || undefined };
}

const strictlyApart = (name: string): Passed => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { etcd_cluster: name } } },
    ],
  },
});
