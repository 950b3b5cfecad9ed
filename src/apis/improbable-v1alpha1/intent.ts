import type { Memory } from '../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../core/cluster/model/names.ts';
import { type ManifestPart, type MemberTemplate, type Naming, ports } from '../../core/cluster/model/template.ts';
import { plaintextAnnotation } from '../../core/cluster/status/plaintext.ts';
import { certificateFiles, managedOf, operatorSecretOf, ownFiles } from '../common/certificates.ts';
import type { ReadCluster } from '../common/dialect.ts';
import { imagesOf } from '../common/image.ts';
import { environmentFor, passedFields } from '../common/member-settings.ts';
import type { Parsed } from '../common/schema/parsed.ts';
import { pauseOf } from '../common/status/held-by.ts';
import { recordedBootstrap } from '../common/status/recorded-bootstrap.ts';
import type { EtcdClusterSpec } from './cluster-spec.ts';
import { desiredPeer } from './desired-peer.ts';
import { group, holdAnnotation, hostOf, version } from './names.ts';
import { writePeerStatus } from './peer-status.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import { processorsOf } from './processors.ts';
import { type EtcdClusterResource, readEtcdCluster } from './read.ts';

/** Reads an EtcdCluster and translates it into the core's types. */
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
        name,
        namespace,
        uid,
        size: spec.replicas,
        version: spec.version,
        ...pauseOf(metadata.annotations?.[holdAnnotation], spec),
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
      volumesOutlive: spec.storage.volumeClaimPolicy === 'Retain',
    },
    memory: memoryOf(resource),
    operatorSecret: operatorSecretOf(spec.tls),
    managedCertificates: managedOf(spec.tls),
    operatorCredentials: spec.auth?.operatorCredentials,
    backupBeforeUpgrade: spec.backupBeforeUpgrade?.like,
    peers: { wanted: (body, voters) => desiredPeer(resource, body, voters), writeStatus: writePeerStatus },
  };
}

const namingOf = ({ metadata: { name }, spec }: EtcdClusterResource): Naming => {
  const client = 'etcd-client';
  const peer = 'etcd-peer';
  const hasTls = certificateFiles(name, spec.tls).clientTLS !== undefined;
  return {
    prefix: group,
    clusterLabels: { [nameLabel]: 'etcd', [clusterLabel]: name },
    memberLabel: `${group}/peer-name`,
    versionAnnotation: `${group}/etcd-version`,
    peerService: name,
    clientService: `${name}-client`,
    domain: '',
    // etcd clients look up SRV records by this port name, which also selects http or https.
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
    ...certificateFiles(metadata.name, spec.tls),
  };
}

/** Variables set by users replace variables of the operator. */
const environmentOf = (spec: EtcdClusterSpec): readonly ManifestPart[] => {
  const fromSpec = spec.podTemplate?.etcdEnv ?? [];
  const set = new Set(fromSpec.map(({ name }) => name));
  const ours = [...processorsOf(spec.podTemplate?.resources?.limits?.['cpu']), ...environmentFor(spec)];
  return [...ours.filter(({ name }) => !set.has(String(name))), ...fromSpec];
};

function memoryOf({ status }: EtcdClusterResource): Memory {
  const { bootstrap, clusterId, members = [], serverVersion } = status;
  // The original wrote no roles and had no learners. Members that had not started have an empty name.
  const isVoter = ({ role, name }: (typeof members)[number]): boolean => role !== 'learner' && name !== '';
  const voters = members.filter(isVoter).map(({ name }) => name as MemberName);
  return { bootstrap: recordedBootstrap(bootstrap), clusterId, voters, version: serverVersion || undefined };
}
