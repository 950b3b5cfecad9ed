import type { Memory } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { type MemberTemplate, type Naming, type Passed, ports } from '../../core/model/template.ts';
import { plaintextAnnotation } from '../../core/status/plaintext.ts';
import { certificatesOf, managedOf, operatorSecretOf, ownFiles } from '../certificates.ts';
import type { ReadCluster } from '../dialect.ts';
import { imagesOf } from '../image.ts';
import { environmentFor, passedFields } from '../member-settings.ts';
import type { Parsed } from '../parsed.ts';
import type { EtcdClusterSpec } from './cluster-spec.ts';
import { desiredPeer } from './desired-peer.ts';
import { group, holdAnnotation, hostOf, version } from './names.ts';
import { writePeerStatus } from './peer-status.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import { processorsOf } from './processors.ts';
import { type EtcdClusterResource, readEtcdCluster } from './read.ts';

/** Reads an EtcdCluster as the core understands it. */
export function readCluster(raw: unknown): Parsed<ReadCluster> {
  const read = readEtcdCluster(raw);
  return read.ok ? { ok: true, value: translate(read.value) } : read;
}

function translate(resource: EtcdClusterResource): ReadCluster {
  const { metadata, spec } = resource;
  const { name, namespace, uid } = metadata;
  const template = templateOf(resource);
  const scheme = template.peerTLS === undefined ? 'http' : 'https';
  return {
    blueprint: {
      intent: {
        ...{ name, namespace, uid, size: spec.replicas, version: spec.version, ...pauseOf(resource) },
        memberNames: 'ordinal',
        replaceAfterSeconds: spec.replaceMemberAfterSeconds,
        keepVolumesSeconds: spec.keepRemovedVolumesSeconds,
        peerURLOf: (member) => `${scheme}://${hostOf(member, name, namespace)}:${ports.peer}`,
        ...imagesOf(spec),
      },
      owner: { apiVersion: `${group}/${version}`, kind: 'EtcdCluster', name, uid, controller: true },
      naming: namingOf(resource),
      template,
      certificateFiles: ownFiles(name),
      acceptsPlaintext: metadata.annotations?.[plaintextAnnotation(group)] === 'true',
      disksOutlive: spec.storage.volumeClaimPolicy === 'Retain',
    },
    memory: memoryOf(resource),
    operatorSecret: operatorSecretOf(spec.tls),
    managedCertificates: managedOf(spec.tls),
    operatorCredentials: spec.auth?.operatorCredentials,
    backupBeforeUpgrade: spec.backupBeforeUpgrade?.like,
    peers: { wanted: (body, voters) => desiredPeer(resource, body, voters), writeStatus: writePeerStatus },
  };
}

function pauseOf({ metadata, spec }: EtcdClusterResource): { readonly paused: boolean; readonly heldBy?: string } {
  const heldBy = metadata.annotations?.[holdAnnotation];
  return heldBy === undefined ? { paused: spec.paused } : { paused: true, heldBy };
}

const namingOf = ({ metadata: { name }, spec }: EtcdClusterResource): Naming => {
  const client = 'etcd-client';
  const peer = 'etcd-peer';
  const hasTls = certificatesOf(name, spec.tls).clientTLS !== undefined;
  return {
    prefix: group,
    clusterLabels: { [nameLabel]: 'etcd', [clusterLabel]: name },
    memberLabel: `${group}/peer-name`,
    versionAnnotation: `${group}/etcd-version`,
    peerService: name,
    clientService: `${name}-client`,
    domain: '',
    // By this name etcd's clients look up members in DNS, and learn whether to encrypt.
    ports: { service: { client: hasTls ? `${client}-ssl` : client, peer }, container: { client, peer } },
    data: { mountPath: '/var/lib/etcd', directory: '/var/lib/etcd' },
  };
};

function templateOf({ metadata, spec }: EtcdClusterResource): MemberTemplate {
  const pod = spec.podTemplate ?? {};
  return {
    labels: pod.metadata?.labels ?? {},
    annotations: pod.metadata?.annotations ?? {},
    env: environmentOf(spec),
    passed: passedFields(pod),
    resources: pod.resources,
    nodeSelector: pod.nodeSelector,
    affinity: pod.affinity,
    tolerations: pod.tolerations,
    securityContext: pod.securityContext,
    claim: spec.storage.volumeClaimTemplate,
    nameCheck: undefined,
    ...certificatesOf(metadata.name, spec.tls),
  };
}

/** What users set themselves wins: a variable that is there twice has its last value. */
const environmentOf = (spec: EtcdClusterSpec): readonly Passed[] => {
  const own = spec.podTemplate?.etcdEnv ?? [];
  const set = new Set(own.map(({ name }) => name));
  const ours = [...processorsOf(spec.podTemplate?.resources?.limits?.['cpu']), ...environmentFor(spec)];
  return [...ours.filter(({ name }) => !set.has(String(name))), ...own];
};

function memoryOf({ status }: EtcdClusterResource): Memory {
  const { bootstrap, clusterId, members = [], serverVersion } = status;
  // The original wrote no roles, and had no learners; who had not started yet had no name there.
  const isVoter = ({ role, name }: (typeof members)[number]): boolean => role !== 'learner' && name !== '';
  const voters = members.filter(isVoter).map(({ name }) => name as CarrierName);
  return { bootstrap: bootstrap as Memory['bootstrap'], clusterId, voters, version: serverVersion || undefined };
}
