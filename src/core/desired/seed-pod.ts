import type { CarrierName } from '../model/cluster.ts';
import type { Passed } from '../model/template.ts';
import { hasEtcdutl } from '../model/version.ts';
import { type AgentImage, type AgentMount, agentContainer, agentVolumes } from './agent-pod.ts';
import { memberClaim } from './claim.ts';
import type { Blueprint, Manifest, OwnerReference } from './manifest.ts';
import { memberPod, templateAnnotation } from './pod.ts';
import { nothingSpecial } from './security-context.ts';

/** How the first member of a restored cluster is made. */
export interface Seeding {
  readonly name: CarrierName;
  readonly token: string;
  /** The restore, to which it belongs until it takes its place in the cluster. */
  readonly owner: OwnerReference;
  /** In place of the cluster's, so that no client comes to it before. */
  readonly labels: Readonly<Record<string, string>>;
  readonly image: AgentImage;
  /** How the agent that fetches the snapshot finds it. */
  readonly words: readonly string[];
  readonly mounts: readonly AgentMount[];
  readonly revisionBump?: number | undefined;
}

/**
 * A member like any other of its cluster, with three containers before it: the first brings the snapshot, the second is
 * etcd's own tool and makes a data directory of it, the third puts that in its place. The mark of its template is nobody's, so
 * that it gets an ordinary body when the cluster is complete.
 */
export function seedPod(blueprint: Blueprint, seeding: Seeding): Manifest {
  const { intent, naming } = blueprint;
  const { name, token, owner, labels } = seeding;
  const join = { as: 'founder', of: { members: [name], token } } as const;
  const pod = memberPod(blueprint, { name, join, version: intent.version });
  const { initContainers = [], volumes = [] } = pod.spec as Readonly<Record<string, readonly Passed[] | undefined>>;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...blueprint.template.labels, ...labels },
      annotations: { ...pod.metadata.annotations, [templateAnnotation(naming)]: 'restored' },
      ownerReferences: [owner],
    },
    spec: {
      ...pod.spec,
      // Tools before 3.4 look its name up, which nobody knows before it takes its place.
      hostAliases: [{ ip: '127.0.0.1', hostnames: [new URL(intent.peerURLOf(name)).hostname] }],
      initContainers: [...initContainers, ...restoreContainers(blueprint, seeding)],
      volumes: [...volumes, ...agentVolumes(seeding.mounts)],
    },
  };
}

/** The seed's disk, where members of its cluster have one. */
export function seedClaim(blueprint: Blueprint, { name, owner, labels }: Seeding): Manifest | undefined {
  const claim = memberClaim(blueprint, name, blueprint.intent.version);
  return claim && { ...claim, metadata: { ...claim.metadata, labels, ownerReferences: [owner] } };
}

function restoreContainers(blueprint: Blueprint, seeding: Seeding): readonly Passed[] {
  const { intent, naming } = blueprint;
  const { mountPath, directory } = naming.data;
  const staging = `${mountPath}/restore`;
  const data = { name: 'etcd-data', mountPath };
  const snapshot = `${staging}/snapshot.db`;
  const fetch = { name: 'fetch-backup', words: ['fetch', ...seeding.words, '--clear', staging, '--to', snapshot] };
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
      terminationMessagePolicy: 'FallbackToLogsOnError',
      securityContext: nothingSpecial,
      volumeMounts: [data],
    },
    withMount(agentContainer(place, seeding.image, []), data),
  ];
}

/** What was compacted away is told to those who watch from there: they start anew in place of waiting for ever. */
const bumpFlags = (by: number | undefined): readonly string[] =>
  by === undefined ? [] : [`--bump-revision=${by}`, '--mark-compacted'];

const withMount = (container: Passed, mount: Passed): Passed => ({
  ...container,
  volumeMounts: [...((container['volumeMounts'] as readonly Passed[] | undefined) ?? []), mount],
});
