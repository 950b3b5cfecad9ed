import type { CarrierName } from '../model/names.ts';
import { type MemberTemplate, type Naming, type Passed, ports, type SecretFiles } from '../model/template.ts';
import type { Join } from '../plan/cluster/step.ts';
import { fingerprint } from './fingerprint.ts';
import { annotationsOf, initialClusterEnvironment, initialClusterOf } from './initial-cluster.ts';
import { passedAnnotation, passedNames } from './labels.ts';
import type { Blueprint, Manifest } from './manifest.ts';
import { snapshotAnnotation, snapshotEnvironment } from './old-requests.ts';
import { livenessProbe, readinessProbe, startupProbe } from './probes.ts';
import { secretMounts, secretVolumes } from './secret-volumes.ts';
import { anyoneButRoot, asUser, nothingSpecial } from './security-context.ts';
import { notCounting } from './spread.ts';

/** Whose body it is, and what is in it at first. */
export interface Body {
  readonly name: CarrierName;
  readonly join: Join;
  readonly version: string;
  /** The user whose files are on its disk, where that is not ours to choose. */
  readonly user?: number | undefined;
  /** The name of its PVC, where that is not the member's. */
  readonly claim?: string | undefined;
  /** After how many entries it makes a snapshot, where etcd is not to choose. */
  readonly snapshotCount?: string;
  /** Members that leave when it has joined. It may take the node of one of them. */
  readonly leaving?: readonly CarrierName[];
}

/** The body of one member. */
export function memberPod(blueprint: Blueprint, body: Body): Manifest {
  const { intent, owner, naming, template } = blueprint;
  const { name, join, version, snapshotCount = '', leaving = [] } = body;
  const spec = podSpec(blueprint, body);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: intent.namespace,
      labels: { ...template.labels, ...naming.clusterLabels, [naming.memberLabel]: name },
      annotations: {
        ...template.annotations,
        [naming.versionAnnotation]: version,
        [templateAnnotation(naming)]: templateMark(blueprint),
        ...certificateMarks(template, naming),
        [passedAnnotation(naming)]: passedNames(template),
        ...annotationsOf(initialClusterOf(join, name, intent), naming),
        ...(snapshotCount === '' ? {} : { [snapshotAnnotation(naming)]: snapshotCount }),
      },
      ownerReferences: [owner],
    },
    spec: leaving.length === 0 ? spec : notCounting(spec, { label: naming.memberLabel, values: leaving }),
  };
}

/** When a pod's image was last changed. */
export const changedAnnotation = ({ prefix }: Naming): string => `${prefix}/changed-at`;

/** How often its container had started again when its image was last changed. */
export const restartsAnnotation = ({ prefix }: Naming): string => `${prefix}/changed-after-restarts`;

/** A mark of the authorities that a pod's etcd read when it started. */
export const believesAnnotation = ({ prefix }: Naming): string => `${prefix}/believes`;

/** A mark of the certificates that it read then. */
export const showsAnnotation = ({ prefix }: Naming): string => `${prefix}/shows`;

const certificateMarks = ({ kept }: MemberTemplate, naming: Naming): Readonly<Record<string, string>> =>
  kept === undefined ? {} : { [believesAnnotation(naming)]: kept.believed, [showsAnnotation(naming)]: kept.shown };

export const templateAnnotation = ({ prefix }: Naming): string => `${prefix}/template`;

/**
 * Changes when users ask for other pods, and not when we learn to make better ones: a new operator is no reason to restart
 * anybody. What can be changed without a restart is left out.
 */
export const templateMark = ({ template, naming }: Blueprint): string => {
  const {
    labels: _l,
    annotations: _a,
    keysFound: _k,
    kept: _m,
    acceptsPlainClients: _c,
    claim,
    passed,
    ...rest
  } = template;
  return fingerprint({ ...rest, ...passed, domain: naming.domain, hasDisk: claim !== undefined });
};

function podSpec(blueprint: Blueprint, { name, join, version, user, claim = name }: Body): Manifest['spec'] {
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
    securityContext: template.securityContext ?? (user === undefined ? anyoneButRoot : asUser(user)),
    affinity: template.affinity ?? apartIfPossible(naming),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...nameCheck(blueprint, name),
    containers: [{ ...etcdContainer(blueprint, name), image: intent.imageOf(version) }],
    volumes: [dataVolume(template.claim !== undefined || join.as === 'returner', claim), ...secretVolumes(template)],
  };
}

function etcdContainer(blueprint: Blueprint, name: CarrierName): Passed {
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
    securityContext: nothingSpecial,
    terminationMessagePolicy: 'FallbackToLogsOnError', // why it ended is then told in the status
    startupProbe: startupProbe(template),
    livenessProbe,
    readinessProbe: readinessProbe(template),
    volumeMounts: [{ name: 'etcd-data', mountPath: dataPath }, ...secretMounts(template)],
  };
}

/** The flags of the original, in its order; those about the first start take their values from the environment. */
function etcdCommand({ intent, naming, template }: Blueprint, name: CarrierName): readonly string[] {
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

/** On one port etcd tells by the first bytes of a connection whether it is encrypted. */
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

/** Whoever returns has a disk to return to, whatever the spec says of disks by now. */
const dataVolume = (hasDisk: boolean, claimName: string): Passed =>
  hasDisk ? { name: 'etcd-data', persistentVolumeClaim: { claimName } } : { name: 'etcd-data', emptyDir: {} };

/**
 * The original waits in every pod until the pod's own name can be looked up. etcd looks names up again by itself, so here
 * only those who ask for it wait, and never without an end.
 */
function nameCheck({ intent, naming, template }: Blueprint, name: CarrierName): Passed {
  const check = template.nameCheck;
  if (check === undefined) return {};
  const host = `${name}.${naming.peerService}.${intent.namespace}.svc${naming.domain}`;
  const script = [
    // Some builds of busybox take a name as it stands, and leave the suffixes of a cluster to whoever asks.
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
        securityContext: nothingSpecial,
      },
    ],
  };
}

const apartIfPossible = ({ clusterLabels }: Naming): Passed => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: clusterLabels } },
      },
    ],
  },
});
