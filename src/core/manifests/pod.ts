import type { MemberName } from '../cluster/model/names.ts';
import {
  type ManifestPart,
  type MemberTemplate,
  type Naming,
  ports,
  type SecretFiles,
} from '../cluster/model/template.ts';
import type { Join } from '../cluster/plan/step.ts';
import { annotationsOf, initialClusterEnvironment, initialClusterOf } from './initial-cluster.ts';
import { servingLabel, userMetadataAnnotation, userMetadataKeys } from './labels.ts';
import { snapshotAnnotation, snapshotEnvironment } from './legacy-resources.ts';
import type { Blueprint, Manifest } from './manifest.ts';
import { livenessProbe, readinessProbe, startupProbe } from './probes.ts';
import { secretMounts, secretVolumes } from './secret-volumes.ts';
import { asUser, nonRootSecurityContext, restrictedSecurityContext } from './security-context.ts';
import { ignoringPods } from './spread.ts';
import { fingerprint } from './template-hash.ts';

/** The input for one member pod. */
export interface MemberPodInput {
  readonly name: MemberName;
  readonly join: Join;
  readonly version: string;
  /** The UID that owns the files on an adopted PVC. */
  readonly user?: number | undefined;
  /** The name of its PVC, if it differs from the member's name. */
  readonly claim?: string | undefined;
  /** Overrides etcd's snapshot count. */
  readonly snapshotCount?: string;
  /** Members that are removed after this member has joined. It may run on the node of one of them. */
  readonly leaving?: readonly MemberName[];
}

/** The manifest of a member pod. */
export function memberPodManifest(blueprint: Blueprint, input: MemberPodInput): Manifest {
  const { intent, owner, naming, template } = blueprint;
  const { name, join, version, snapshotCount = '', leaving = [] } = input;
  const spec = podSpec(blueprint, input);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: intent.namespace,
      labels: { ...template.labels, ...naming.clusterLabels, [naming.memberLabel]: name, ...serving(join, naming) },
      annotations: {
        ...template.annotations,
        [naming.versionAnnotation]: version,
        [templateAnnotation(naming)]: templateHash(blueprint),
        ...certificateHashes(template, naming),
        [userMetadataAnnotation(naming)]: userMetadataKeys(template),
        ...annotationsOf(initialClusterOf(join, name, intent), naming),
        ...(snapshotCount === '' ? {} : { [snapshotAnnotation(naming)]: snapshotCount }),
      },
      ownerReferences: [owner],
    },
    spec: leaving.length === 0 ? spec : ignoringPods(spec, { label: naming.memberLabel, values: leaving }),
  };
}

/** A joining member is a learner at first, so the client Service does not lead to it yet. */
const serving = ({ as }: Join, naming: Naming): Readonly<Record<string, string>> =>
  as === 'joining' ? {} : { [servingLabel(naming)]: 'true' };

/** The time of the last change of a pod's image. */
export const changedAnnotation = ({ prefix }: Naming): string => `${prefix}/changed-at`;

/** The restart count of the container at the last change of its image. */
export const restartsAnnotation = ({ prefix }: Naming): string => `${prefix}/changed-after-restarts`;

/** The hash of the CAs that etcd read at start. */
export const caHashAnnotation = ({ prefix }: Naming): string => `${prefix}/ca-hash`;

/** The hash of the certificates that etcd read at start. */
export const certHashAnnotation = ({ prefix }: Naming): string => `${prefix}/cert-hash`;

const certificateHashes = ({ memberSecret }: MemberTemplate, naming: Naming): Readonly<Record<string, string>> =>
  memberSecret === undefined
    ? {}
    : { [caHashAnnotation(naming)]: memberSecret.caHash, [certHashAnnotation(naming)]: memberSecret.certHash };

export const templateAnnotation = ({ prefix }: Naming): string => `${prefix}/template-hash`;

/**
 * Changes with the spec, and not with the version of the operator: an upgrade of the operator restarts no member.
 * Fields that can change without a restart are left out.
 */
export const templateHash = ({ template, naming }: Blueprint): string => {
  const {
    labels: _l,
    annotations: _a,
    keysFound: _k,
    memberSecret: _m,
    acceptsPlainClients: _c,
    claim,
    passed,
    ...rest
  } = template;
  // Keys are part of the hash: renaming one would restart all members.
  return fingerprint({ ...rest, ...passed, domain: naming.domain, hasDisk: claim !== undefined });
};

function podSpec(blueprint: Blueprint, { name, join, version, user, claim = name }: MemberPodInput): Manifest['spec'] {
  const { naming, template, intent } = blueprint;
  const { nodeSelector, tolerations } = template;
  return {
    ...template.passed,
    hostname: name,
    subdomain: naming.peerService,
    restartPolicy: 'Always',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    securityContext: template.securityContext ?? (user === undefined ? nonRootSecurityContext : asUser(user)),
    affinity: template.affinity ?? preferredAntiAffinity(naming),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...nameCheck(blueprint, name),
    containers: [{ ...etcdContainer(blueprint, name), image: intent.imageOf(version) }],
    volumes: [dataVolume(template.claim !== undefined || join.as === 'restarting', claim), ...secretVolumes(template)],
  };
}

function etcdContainer(blueprint: Blueprint, name: MemberName): ManifestPart {
  const { naming, template } = blueprint;
  const dataPath = naming.data.mountPath;
  return {
    name: 'etcd',
    command: etcdCommand(blueprint, name),
    env: [...initialClusterEnvironment(naming), snapshotEnvironment(naming), ...template.env],
    ports: [
      { name: naming.ports.container.peer, containerPort: ports.peer, protocol: 'TCP' },
      { name: naming.ports.container.client, containerPort: ports.client, protocol: 'TCP' },
    ],
    ...(template.resources === undefined ? {} : { resources: template.resources }),
    securityContext: restrictedSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError', // the pod status then contains the cause of a failure
    startupProbe: startupProbe(template),
    livenessProbe,
    readinessProbe: readinessProbe(template),
    volumeMounts: [{ name: 'etcd-data', mountPath: dataPath }, ...secretMounts(template)],
  };
}

/** The flags of the original operator, in its order. The initial cluster comes from the environment. */
function etcdCommand({ intent, naming, template }: Blueprint, name: MemberName): readonly string[] {
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const peerScheme = template.peerTLS === undefined ? 'http' : (template.peersListen ?? 'https');
  const host = `${name}.${naming.peerService}.${intent.namespace}.svc${naming.domain}`;
  return [
    '/usr/local/bin/etcd',
    `--data-dir=${naming.data.directory}`,
    `--name=${name}`,
    `--initial-advertise-peer-urls=${peerScheme}://${host}:${ports.peer}`,
    `--listen-peer-urls=${peerScheme}://0.0.0.0:${ports.peer}`,
    `--listen-client-urls=${listenFor(scheme, template)}`,
    `--advertise-client-urls=${scheme}://${host}:${ports.client}`,
    '--initial-cluster=$(INITIAL_CLUSTER)',
    '--initial-cluster-state=$(INITIAL_CLUSTER_STATE)',
    ...tlsFlags('--peer-', '--peer-client-cert-auth=true', template.peerTLS),
    ...tlsFlags('--', '--client-cert-auth=true', template.clientTLS),
    '--initial-cluster-token=$(INITIAL_CLUSTER_TOKEN)',
  ];
}

/** etcd can serve http and https on one port: it detects TLS by the first bytes of a connection. */
const listenFor = (scheme: string, { clientsServed }: MemberTemplate): string =>
  (clientsServed === 'either-way' ? ['http', 'https'] : [scheme])
    .map((each) => `${each}://0.0.0.0:${ports.client}`)
    .join(',');

function tlsFlags(prefix: string, askForCertificates: string, files: SecretFiles | undefined): readonly string[] {
  if (files === undefined) return [];
  const path = (file: string): string => `${files.mountPath}/${file}`;
  return [
    askForCertificates,
    `${prefix}trusted-ca-file=${path(files.authority)}`,
    `${prefix}cert-file=${path(files.certificate)}`,
    `${prefix}key-file=${path(files.key)}`,
  ];
}

/** A restarting member always has a PVC, even if the spec no longer asks for one. */
const dataVolume = (hasVolume: boolean, claimName: string): ManifestPart =>
  hasVolume ? { name: 'etcd-data', persistentVolumeClaim: { claimName } } : { name: 'etcd-data', emptyDir: {} };

/**
 * The original operator waits in every pod until the pod's own DNS name resolves. etcd retries lookups itself, so the
 * wait is optional here, and limited.
 */
function nameCheck({ intent, naming, template }: Blueprint, name: MemberName): ManifestPart {
  const check = template.nameCheck;
  if (check === undefined) return {};
  const host = `${name}.${naming.peerService}.${intent.namespace}.svc${naming.domain}`;
  const script = [
    // Some builds of busybox do not apply the DNS search list, so the script appends each suffix.
    `suffixes=$(sed -n 's/^search//p' /etc/resolv.conf | tr ' ' '\\n' | sed -n 's/^./.&/p')`,
    `for try in $(seq ${check.tries}); do`,
    `  for suffix in '' $suffixes; do nslookup "${host}$suffix" && exit 0; done`,
    '  sleep 1',
    'done',
    `echo "${host} is not known yet; going on"`,
  ].join('\n');
  return {
    initContainers: [
      {
        name: 'check-dns',
        image: check.image,
        command: ['/bin/sh', '-c', script],
        ...(template.resources === undefined ? {} : { resources: template.resources }),
        securityContext: restrictedSecurityContext,
      },
    ],
  };
}

const preferredAntiAffinity = ({ clusterLabels }: Naming): ManifestPart => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: clusterLabels } },
      },
    ],
  },
});
