import type { MemberName } from '../cluster/model/names.ts';
import type { ManifestPart } from '../cluster/model/template.ts';
import { hasEtcdutl } from '../cluster/model/version.ts';
import { type AgentImage, type AgentMount, agentContainer, agentVolumes, progressPort } from './agent-pod.ts';
import type { Blueprint, Manifest, OwnerReference } from './manifest.ts';
import { memberPodManifest, templateAnnotation } from './pod.ts';
import { memberClaim } from './pvc.ts';
import { restrictedSecurityContext } from './security-context.ts';
import { ignoringPods, type Labelled } from './spread.ts';

/** The input for the seed: the first member of a restored cluster. */
export interface Seeding {
  readonly name: MemberName;
  readonly token: string;
  /** The EtcdRestore, which owns the seed until the handover to the cluster. */
  readonly owner: OwnerReference;
  /** Replace the labels of the cluster and of the user, so that no Service selects the seed before the handover. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations that stay after the handover, and distinguish the seed from a member of the same name. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly image: AgentImage;
  /** Arguments of the agent that fetches the snapshot. */
  readonly args: readonly string[];
  readonly mounts: readonly AgentMount[];
  readonly revisionBump?: number | undefined;
  /** The ServiceAccount for the store. The pod is later recreated with the ServiceAccount of members. */
  readonly serviceAccountName?: string | undefined;
}

/** The init container that downloads and verifies the snapshot. */
export const fetchContainer = 'fetch-backup';

/**
 * A member pod with three init containers. The first downloads and verifies the snapshot. The second is etcd's own
 * tool, which checks the hash and creates a data directory. The third moves the data directory into place. The template
 * hash matches no spec, so the pod is recreated as an ordinary member pod once the cluster is complete.
 */
export function seedPod(blueprint: Blueprint, seeding: Seeding): Manifest {
  const { intent, naming } = blueprint;
  const { name, token, owner, labels } = seeding;
  const join = { as: 'bootstrap', of: { members: [name], token } } as const;
  const pod = memberPodManifest(withoutNameCheck(blueprint), { name, join, version: intent.version });
  const { initContainers = [], volumes = [] } = pod.spec as Readonly<
    Record<string, readonly ManifestPart[] | undefined>
  >;
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
      ...ignoringPods(pod.spec, oldMembers(blueprint)),
      ...(seeding.serviceAccountName === undefined ? {} : { serviceAccountName: seeding.serviceAccountName }),
      ...pullSecretsOf(pod, seeding.image),
      // etcdctl before 3.4 resolves the peer host name, which is in DNS only after the handover.
      hostAliases: [{ ip: '127.0.0.1', hostnames: [new URL(intent.peerURLOf(name)).hostname] }],
      initContainers: [...initContainers, ...restoreContainers(blueprint, seeding)],
      volumes: [...volumes, ...agentVolumes(seeding.mounts)],
    },
  };
}

/** The old members. Scheduling ignores them: with required anti-affinity there may be no free node for the seed. */
function oldMembers({ naming: { clusterLabels, memberLabel }, owner }: Blueprint): Labelled {
  const [label = memberLabel] = Object.entries(clusterLabels).findLast(([, value]) => value === owner.name) ?? [];
  return { label, values: [owner.name] };
}

/** The pull Secrets of both images of the pod: that of the cluster and that of the operator. */
function pullSecretsOf({ spec }: Manifest, { pullSecrets = [] }: AgentImage): ManifestPart {
  const ofCluster = (spec['imagePullSecrets'] ?? []) as readonly ManifestPart[];
  const more = pullSecrets.filter(({ name }) => !ofCluster.some((each) => each['name'] === name));
  const imagePullSecrets = [...ofCluster, ...more];
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets };
}

/** The DNS name of the seed resolves only after the handover, so the check is left out. */
const withoutNameCheck = (blueprint: Blueprint): Blueprint => ({
  ...blueprint,
  template: { ...blueprint.template, nameCheck: undefined },
});

/** The PVC of the seed, if members have PVCs. With numbered names, the PVC reserves the name. */
export function seedClaim(blueprint: Blueprint, seeding: Seeding): Manifest | undefined {
  const { name, owner, labels: own } = seeding;
  const { naming, intent } = blueprint;
  const claim = memberClaim(blueprint, name, intent.version);
  const labels = { ...naming.clusterLabels, ...own };
  const annotations = { ...claim?.metadata.annotations, ...seeding.annotations };
  return claim && { ...claim, metadata: { ...claim.metadata, labels, annotations, ownerReferences: [owner] } };
}

function restoreContainers(blueprint: Blueprint, seeding: Seeding): readonly ManifestPart[] {
  const { intent, naming } = blueprint;
  const { mountPath, directory } = naming.data;
  const staging = `${mountPath}/restore`;
  const data = { name: 'etcd-data', mountPath };
  const snapshot = `${staging}/snapshot.db`;
  const fetch = {
    name: fetchContainer,
    args: ['fetch', ...seeding.args, ...fetchArgs(staging, snapshot), ...limitArgs(blueprint)],
    memoryLimit: '1Gi',
  };
  const place = { name: 'place-datadir', args: ['place', '--staging', staging, '--to', directory] };
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
      securityContext: restrictedSecurityContext,
      volumeMounts: [data],
    },
    withMount(agentContainer(place, seeding.image, []), data),
  ];
}

/** etcd's tool needs the resources of etcd. With a ResourceQuota, every container must set resources. */
const resourcesIn = ({ template: { resources } }: Blueprint): ManifestPart =>
  resources === undefined ? {} : { resources };

const fetchArgs = (staging: string, snapshot: string): readonly string[] => [
  ...['--clear', staging, '--to', snapshot],
  ...['--progress-port', String(progressPort)],
];

/** The maximum database size that etcd recommends. */
const usualQuota = 8 * 1024 ** 3;

/** Limits the unpacked size of a compressed object. A database may exceed its quota, or come from a larger cluster. */
function limitArgs({ template: { env } }: Blueprint): readonly string[] {
  const quota = Number(env.findLast(({ name }) => name === 'ETCD_QUOTA_BACKEND_BYTES')?.['value']);
  return ['--max-bytes', String(2 * Math.max(Number.isSafeInteger(quota) ? quota : 0, usualQuota))];
}

/** Marks old revisions as compacted, so that watchers get an error and start again instead of waiting for ever. */
const bumpFlags = (by: number | undefined): readonly string[] =>
  by === undefined ? [] : [`--bump-revision=${by}`, '--mark-compacted'];

const withMount = (container: ManifestPart, mount: ManifestPart): ManifestPart => ({
  ...container,
  volumeMounts: [...((container['volumeMounts'] as readonly ManifestPart[] | undefined) ?? []), mount],
});
