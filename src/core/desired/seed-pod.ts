import type { CarrierName } from '../model/names.ts';
import type { Passed } from '../model/template.ts';
import { hasEtcdutl } from '../model/version.ts';
import { type AgentImage, type AgentMount, agentContainer, agentVolumes, progressPort } from './agent-pod.ts';
import { memberClaim } from './claim.ts';
import type { Blueprint, Manifest, OwnerReference } from './manifest.ts';
import { memberPod, templateAnnotation } from './pod.ts';
import { nothingSpecial } from './security-context.ts';
import { type Labelled, notCounting } from './spread.ts';

/** How the first member of a restored cluster is made. */
export interface Seeding {
  readonly name: CarrierName;
  readonly token: string;
  /** The restore, to which it belongs until it takes its place in the cluster. */
  readonly owner: OwnerReference;
  /** In place of the cluster's and of its user's own, so that no client comes to it before: services go by either. */
  readonly labels: Readonly<Record<string, string>>;
  /** What stays with it when it takes its place, and tells it from a member of the same name. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly image: AgentImage;
  /** How the agent that fetches the snapshot finds it. */
  readonly words: readonly string[];
  readonly mounts: readonly AgentMount[];
  readonly revisionBump?: number | undefined;
  /** Who it is to the store; later it gets a body with the account of members. */
  readonly serviceAccountName?: string | undefined;
}

/** The container that brings the snapshot, and proves it. */
export const fetchContainer = 'fetch-backup';

/**
 * A member like any other of its cluster, with three containers before it: the first brings the snapshot and proves it, the
 * second is etcd's own tool, which checks the hash of what it reads and makes a data directory of it, the third puts that in its place. The mark of its template is
 * nobody's, so that it gets an ordinary body when the cluster is complete.
 */
export function seedPod(blueprint: Blueprint, seeding: Seeding): Manifest {
  const { intent, naming } = blueprint;
  const { name, token, owner, labels } = seeding;
  const join = { as: 'founder', of: { members: [name], token } } as const;
  const pod = memberPod(withoutNameCheck(blueprint), { name, join, version: intent.version });
  const { initContainers = [], volumes = [] } = pod.spec as Readonly<Record<string, readonly Passed[] | undefined>>;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels,
      annotations: {
        ...pod.metadata.annotations,
        ...seeding.annotations,
        [templateAnnotation(naming)]: 'restored',
      },
      ownerReferences: [owner],
    },
    spec: {
      ...notCounting(pod.spec, oldMembers(blueprint)),
      ...(seeding.serviceAccountName === undefined ? {} : { serviceAccountName: seeding.serviceAccountName }),
      ...pullSecretsOf(pod, seeding.image),
      // Tools before 3.4 look its name up, which nobody knows before it takes its place.
      hostAliases: [{ ip: '127.0.0.1', hostnames: [new URL(intent.peerURLOf(name)).hostname] }],
      initContainers: [...initContainers, ...restoreContainers(blueprint, seeding)],
      volumes: [...volumes, ...agentVolumes(seeding.mounts)],
    },
  };
}

/** The members that the seed takes the place of: where they must be on different nodes, there may be no node left for it. */
function oldMembers({ naming: { clusterLabels, memberLabel }, owner }: Blueprint): Labelled {
  const [label = memberLabel] = Object.entries(clusterLabels).findLast(([, value]) => value === owner.name) ?? [];
  return { label, values: [owner.name] };
}

/** Two images are pulled for it: the cluster's, and ours. */
function pullSecretsOf({ spec }: Manifest, { pullSecrets = [] }: AgentImage): Passed {
  const ofCluster = (spec['imagePullSecrets'] ?? []) as readonly Passed[];
  const more = pullSecrets.filter(({ name }) => !ofCluster.some((each) => each['name'] === name));
  const imagePullSecrets = [...ofCluster, ...more];
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets };
}

/** Its name cannot be looked up before it takes its place, so whoever waited for that would wait in vain. */
const withoutNameCheck = (blueprint: Blueprint): Blueprint => ({
  ...blueprint,
  template: { ...blueprint.template, nameCheck: undefined },
});

/** The seed's disk, where members of its cluster have one. Where these are numbered, its name is seen to be taken. */
export function seedClaim(blueprint: Blueprint, seeding: Seeding): Manifest | undefined {
  const { name, owner, labels: own } = seeding;
  const { naming, intent } = blueprint;
  const claim = memberClaim(blueprint, name, intent.version);
  const labels = { ...naming.clusterLabels, ...own };
  const annotations = { ...claim?.metadata.annotations, ...seeding.annotations };
  return claim && { ...claim, metadata: { ...claim.metadata, labels, annotations, ownerReferences: [owner] } };
}

function restoreContainers(blueprint: Blueprint, seeding: Seeding): readonly Passed[] {
  const { intent, naming } = blueprint;
  const { mountPath, directory } = naming.data;
  const staging = `${mountPath}/restore`;
  const data = { name: 'etcd-data', mountPath };
  const snapshot = `${staging}/snapshot.db`;
  const fetch = {
    name: fetchContainer,
    words: ['fetch', ...seeding.words, ...fetchWords(staging, snapshot), ...limitWords(blueprint)],
    memoryLimit: '1Gi',
  };
  const place = { name: 'place-datadir', words: ['place', '--staging', staging, '--to', directory] };
  const peerURL = intent.peerURLOf(seeding.name);
  return [
    withMount(agentContainer(fetch, seeding.image, seeding.mounts), data),
    {
      name: 'restore-datadir',
      image: intent.imageOf(intent.version),
      command: [
        ...[`/usr/local/bin/${hasEtcdutl(intent.version) ? 'etcdutl' : 'etcdctl'}`, 'snapshot', 'restore', snapshot],
        `--data-dir=${staging}/data`,
        `--name=${seeding.name}`,
        `--initial-cluster=${seeding.name}=${peerURL}`,
        `--initial-cluster-token=${seeding.token}`,
        `--initial-advertise-peer-urls=${peerURL}`,
        ...bumpFlags(seeding.revisionBump),
      ],
      env: [{ name: 'ETCDCTL_API', value: '3' }],
      ...resourcesIn(blueprint),
      terminationMessagePolicy: 'FallbackToLogsOnError',
      securityContext: nothingSpecial,
      volumeMounts: [data],
    },
    withMount(agentContainer(place, seeding.image, []), data),
  ];
}

/** Etcd's tool needs what etcd needs for the same data; and where a quota counts resources, no container may leave them out. */
const resourcesIn = ({ template: { resources } }: Blueprint): Passed => (resources === undefined ? {} : { resources });

const fetchWords = (staging: string, snapshot: string): readonly string[] => [
  ...['--clear', staging, '--to', snapshot],
  ...['--progress-port', String(progressPort)],
];

/** As much as etcd's own people recommend for a database at most. */
const usualQuota = 8 * 1024 ** 3;

/** A small object may unpack to a large file. Databases may outgrow their quota, or come from where it was larger: not without end. */
function limitWords({ template: { env } }: Blueprint): readonly string[] {
  const quota = Number(env.findLast(({ name }) => name === 'ETCD_QUOTA_BACKEND_BYTES')?.['value']);
  return ['--max-bytes', String(2 * Math.max(Number.isSafeInteger(quota) ? quota : 0, usualQuota))];
}

/** What was compacted away is told to those who watch from there: they start anew in place of waiting for ever. */
const bumpFlags = (by: number | undefined): readonly string[] =>
  by === undefined ? [] : [`--bump-revision=${by}`, '--mark-compacted'];

const withMount = (container: Passed, mount: Passed): Passed => ({
  ...container,
  volumeMounts: [...((container['volumeMounts'] as readonly Passed[] | undefined) ?? []), mount],
});
