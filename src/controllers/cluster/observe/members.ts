import type { MemberPod } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Naming } from '../../../core/cluster/model/template.ts';
import { isBootstrapForbidden } from '../../../core/manifests/initial-cluster.ts';
import { servingLabel } from '../../../core/manifests/labels.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import {
  changedAnnotation,
  restartsAnnotation,
  templateAnnotation,
  templateHash,
} from '../../../core/manifests/pod.ts';
import { isReused } from '../../../core/manifests/pvc.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../std/owner.ts';
import { terminationOutput, waitingMessage } from '../../shared/pod-output.ts';
import { caHashOf, driftOf, kindOfVolume, type Standard } from './drift.ts';
import { bestOfEach, memberIn } from './member-pvc.ts';
import {
  graceOf,
  hasBeenReady,
  hasFallenUnready,
  isNodeLost,
  isReady,
  listensOnly,
  readySince,
  unreadySince,
} from './readiness.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

export interface PodsAndPvcs {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
}

/** The member of a pod. ReplicaSets give pods generated names, so the hostname comes first. */
export const memberNameOf = ({ metadata, spec }: Stored<Pod>): MemberName =>
  (spec?.hostname ?? metadata.name) as MemberName;

/** Combines pods and PVCs to member pods. */
export function memberPodsOf({ pods, claims }: PodsAndPvcs, blueprint: Blueprint): readonly MemberPod[] {
  const hash = templateHash(blueprint);
  const withPods = pods.map((pod) => memberPodOf(pod, claims, { blueprint, hash }));
  const bareVolume = (claim: Stored<PersistentVolumeClaim>): MemberPod => volumeWithoutPod(claim, blueprint);
  const named = new Set<string>(pods.map(memberNameOf));
  const bare = claims.filter((claim) => !named.has(memberIn(claim)) && claim.metadata.deletionTimestamp === undefined);
  return [...withPods, ...bestOfEach(bare, blueprint).map(bareVolume)];
}

function memberPodOf(pod: Stored<Pod>, claims: PodsAndPvcs['claims'], { blueprint, hash }: Standard): MemberPod {
  const { uid, annotations = {} } = pod.metadata;
  const etcd = etcdOf(pod);
  const claim = claimOf(pod, claims);
  const state = phaseOf(pod, etcd);
  return {
    name: memberNameOf(pod),
    uid,
    ...withStorageClass(state, claim),
    ready: isReady(pod),
    ...nodeOf(pod),
    hasRun: hasRun(pod),
    unreadySince: unreadySince(pod, annotations[changedAnnotation(blueprint.naming)]),
    hasFallenUnready: hasFallenUnready(pod, etcd?.state?.running?.startedAt),
    hasBeenReady: hasBeenReady(pod),
    mayHaveData: mayHaveData(pod, claim, blueprint),
    listensOnly: listensOnly(pod),
    readySince: readySince(pod),
    graceMillis: graceOf(pod),
    bootstrapForbidden: isBootstrapForbidden(annotations, blueprint.naming),
    serves: isServing(pod, blueprint),
    volume: volumeOf(pod, claims),
    claim: claimNameOf(pod),
    volumeKind: kindOfVolume(claim, blueprint),
    ...madeFrom(pod, blueprint.naming),
    isChanging: isChanging(pod, etcd, blueprint.naming),
    caHash: caHashOf(annotations, blueprint),
    drift: driftOf({ pod, claim, isStuck: state.phase === 'stuck' }, { blueprint, hash }),
    isForeign: isForeign(pod, blueprint),
  };
}

const isServing = ({ metadata }: Stored<Pod>, { naming }: Blueprint): boolean =>
  metadata.labels?.[servingLabel(naming)] === 'true';

const mayHaveData = (
  pod: Stored<Pod>,
  claim: Stored<PersistentVolumeClaim> | undefined,
  { naming }: Blueprint,
): boolean => claim !== undefined && (hasRun(pod) || isReused(claim.metadata.annotations ?? {}, naming));

function nodeOf(pod: Stored<Pod>): Pick<MemberPod, 'node' | 'isNodeLost'> {
  const node = pod.spec?.nodeName;
  return node === undefined ? {} : { node, isNodeLost: isNodeLost(pod) };
}

/** True if the pod was neither created nor adopted by this operator. */
export const isForeign = ({ metadata }: Stored<Pod>, { intent, naming }: Blueprint): boolean =>
  metadata.annotations?.[templateAnnotation(naming)] === undefined || !isOwnedBy({ metadata }, intent.uid);

function madeFrom({ metadata, spec }: Stored<Pod>, naming: Naming): Pick<MemberPod, 'version' | 'image' | 'template'> {
  const { annotations = {} } = metadata;
  const image = spec?.containers?.find((container) => container.name === 'etcd')?.image ?? '';
  return {
    version: annotations[naming.versionAnnotation] ?? versionIn(image),
    image,
    template: annotations[templateAnnotation(naming)] ?? '',
  };
}

/** The version in the image tag, for pods without a version annotation. */
const versionIn = (image: string): string => /:v?(\d+\.\d+\.\d+)(?:@sha256:[0-9a-f]{64})?$/.exec(image)?.[1] ?? '';

/**
 * True until the kubelet has restarted the container with its new image. The old container still answers meanwhile, so
 * only the restart count shows the change. A pod that got its old image back in time is not restarted.
 */
function isChanging(pod: Stored<Pod>, etcd: ContainerStatus | undefined, naming: Naming): boolean {
  const restartsBefore = pod.metadata.annotations?.[restartsAnnotation(naming)];
  if (restartsBefore === undefined || etcd === undefined) return false;
  return etcd.restartCount <= Number(restartsBefore) && !isImageOf(etcd, madeFrom(pod, naming).image);
}

/** A container runtime may report an image with a digest under another name; then the image ID has the digest. */
function isImageOf({ image, imageID }: ContainerStatus, asked: string): boolean {
  const [digest] = /@sha256:[0-9a-f]{64}$/.exec(asked) ?? [];
  return image === asked || (digest !== undefined && imageID.endsWith(digest));
}

const volumeWithoutPod = (claim: Stored<PersistentVolumeClaim>, { naming }: Blueprint): MemberPod => ({
  name: memberIn(claim),
  uid: claim.metadata.uid,
  phase: 'gone',
  ready: false,
  why: '',
  hasRun: false,
  unreadySince: undefined,
  bootstrapForbidden: true,
  volume: 'own',
  claim: claim.metadata.name,
  mayHaveData: claim.status?.phase !== 'Pending',
  version: claim.metadata.annotations?.[naming.versionAnnotation] ?? '',
  image: '',
  template: '',
  drift: 'none',
});

function volumeOf(pod: Stored<Pod>, claims: PodsAndPvcs['claims']): MemberPod['volume'] {
  if (claimNameOf(pod) === undefined) return 'with-pod';
  const claim = claimOf(pod, claims);
  return claim === undefined || isLost(claim) ? 'lost' : 'own';
}

export const claimNameOf = ({ spec }: Stored<Pod>): string | undefined =>
  spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;

const claimOf = (pod: Stored<Pod>, claims: PodsAndPvcs['claims']): Stored<PersistentVolumeClaim> | undefined =>
  claims.find(({ metadata }) => metadata.name === claimNameOf(pod));

/** True if the volume of the PVC no longer exists. */
export const isLost = ({ status }: Stored<PersistentVolumeClaim>): boolean => status?.phase === 'Lost';

function phaseOf(pod: Stored<Pod>, etcd: ContainerStatus | undefined): Pick<MemberPod, 'phase' | 'why'> {
  if (pod.metadata.deletionTimestamp !== undefined) return { phase: 'stopping', why: '' };
  const status = pod.status ?? {};
  if (hasEnded(status)) return { phase: 'ended', why: status.message ?? '' };
  const obstacle = schedulingObstacle(status) ?? startingObstacle(pod, etcd);
  if (obstacle !== undefined) return { phase: 'stuck', why: obstacle };
  return { phase: isRunning(etcd) ? 'running' : 'starting', why: '' };
}

/** Adds the StorageClass to the message of Kubernetes about a missing volume. */
function withStorageClass(
  { phase, why }: Pick<MemberPod, 'phase' | 'why'>,
  claim: Stored<PersistentVolumeClaim> | undefined,
): Pick<MemberPod, 'phase' | 'why'> {
  const isAboutVolume = phase === 'stuck' && /persistentvolumeclaim/i.test(why);
  if (!isAboutVolume || claim?.status?.phase !== 'Pending') return { phase, why };
  const of = claim.spec?.storageClassName;
  const kind = of === undefined ? 'there is no default StorageClass' : `StorageClass ${of} has provided no volume`;
  return { phase, why: `${why}: for PersistentVolumeClaim ${claim.metadata.name} ${kind}` };
}

const isRunning = (etcd: ContainerStatus | undefined): boolean => etcd?.state?.running !== undefined;

type PodStatus = NonNullable<Pod['status']>;

const hasEnded = ({ phase }: PodStatus): boolean => phase === 'Failed' || phase === 'Succeeded';

function schedulingObstacle({ conditions = [] }: PodStatus): string | undefined {
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? `${scheduled.reason}: ${scheduled.message}` : undefined;
}

/** Waiting reasons that end by themselves. All others need user action or a change of the spec. */
const transientReasons = new Set(['ContainerCreating', 'PodInitializing']);

/** Why the etcd container, or an init container before it, cannot start. */
function startingObstacle(pod: Stored<Pod>, etcd: ContainerStatus | undefined): string | undefined {
  for (const container of pod.status?.initContainerStatuses ?? []) {
    const obstacle = obstacleOf(pod, container);
    if (obstacle !== undefined) return `init container ${container.name}: ${obstacle}`;
  }
  return etcd && obstacleOf(pod, etcd);
}

function obstacleOf(pod: Stored<Pod>, container: ContainerStatus): string | undefined {
  const waiting = container.state?.waiting;
  if (waiting?.reason === undefined || transientReasons.has(waiting.reason)) return undefined;
  const message = waitingMessage(pod, container.name, waiting);
  return [waiting.reason, message, lastEnd(pod, container)].filter((text) => text !== undefined).join(': ');
}

function lastEnd(pod: Stored<Pod>, { name, lastState }: ContainerStatus): string | undefined {
  const ended = lastState?.terminated;
  if (ended === undefined) return undefined;
  return `ended with ${ended.exitCode} ${terminationOutput(pod, name, ended.message ?? '')}`.trim();
}

/** True if the etcd container of a pod has started at least once. */
export function hasRun(pod: Stored<Pod>): boolean {
  const etcd = etcdOf(pod);
  if (etcd === undefined) return false;
  const { restartCount, state, lastState } = etcd;
  return restartCount > 0 || isRunning(etcd) || (state?.terminated ?? lastState?.terminated) !== undefined;
}

const etcdOf = ({ status }: Stored<Pod>): ContainerStatus | undefined =>
  status?.containerStatuses?.find((container) => container.name === 'etcd');
