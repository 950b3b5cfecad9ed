import { isSealed } from '../../core/desired/initial-cluster.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { changedAnnotation, restartsAnnotation, templateAnnotation, templateMark } from '../../core/desired/pod.ts';
import type { Carrier } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Naming } from '../../core/model/template.ts';
import type { ObjectMeta, PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { saidAtTheEnd, waitingMessage } from '../agents/quoted.ts';
import { believedBy, driftOf, kindOfDisk, type Standard } from './drift.ts';
import { bestOfEach, memberIn } from './member-claim.ts';
import { graceOf, hasFallenUnready, isNodeLost, isReady, listensOnly, readySince, unreadySince } from './readiness.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

export interface Bodies {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
}

/** Whose body a pod is: others may have given it a name of its own, but never a host name. */
export const nameOfBody = ({ metadata, spec }: Stored<Pod>): CarrierName =>
  (spec?.hostname ?? metadata.name) as CarrierName;

/** Sees pods and claims as the bodies of members. */
export function carriersOf({ pods, claims }: Bodies, blueprint: Blueprint): readonly Carrier[] {
  const mark = templateMark(blueprint);
  const withPods = pods.map((pod) => carrierOf(pod, claims, { blueprint, mark }));
  const bareDisk = (claim: Stored<PersistentVolumeClaim>): Carrier => diskWithoutPod(claim, blueprint);
  const named = new Set<string>(pods.map(nameOfBody));
  const bare = claims.filter((claim) => !named.has(memberIn(claim)) && claim.metadata.deletionTimestamp === undefined);
  return [...withPods, ...bestOfEach(bare, blueprint).map(bareDisk)];
}

function carrierOf(pod: Stored<Pod>, claims: Bodies['claims'], { blueprint, mark }: Standard): Carrier {
  const { uid, annotations = {} } = pod.metadata;
  const etcd = pod.status?.containerStatuses?.find((container) => container.name === 'etcd');
  const claim = claimOf(pod, claims);
  const state = phaseOf(pod, etcd);
  return {
    name: nameOfBody(pod),
    uid,
    ...explained(state, claim),
    ready: isReady(pod),
    ...nodeOf(pod),
    hasRun: hasRun(etcd),
    unreadySince: unreadySince(pod, annotations[changedAnnotation(blueprint.naming)]),
    hasFallenUnready: hasFallenUnready(pod, etcd?.state?.running?.startedAt),
    listensOnly: listensOnly(pod),
    readySince: readySince(pod),
    graceMillis: graceOf(pod),
    sealed: isSealed(annotations, blueprint.naming),
    disk: diskOf(pod, claims),
    claim: claimNameOf(pod),
    diskKind: kindOfDisk(claim, blueprint),
    ...madeFrom(pod, blueprint.naming),
    isChanging: isChanging(pod, etcd, blueprint.naming),
    believes: believedBy(annotations, blueprint),
    drift: driftOf({ pod, claim, isStuck: state.phase === 'stuck' }, { blueprint, mark }),
    isForeign: isForeign(pod, blueprint),
  };
}

function nodeOf(pod: Stored<Pod>): Pick<Carrier, 'node' | 'isNodeLost'> {
  const node = pod.spec?.nodeName;
  return node === undefined ? {} : { node, isNodeLost: isNodeLost(pod) };
}

/** Not made by us, and not made ours. */
export const isForeign = ({ metadata }: Stored<Pod>, { intent, naming }: Blueprint): boolean =>
  metadata.annotations?.[templateAnnotation(naming)] === undefined || !isOwnedBy(metadata, intent.uid);

export const isOwnedBy = ({ ownerReferences = [] }: ObjectMeta, uid: string): boolean =>
  ownerReferences.some((owner) => owner.uid === uid);

function madeFrom({ metadata, spec }: Stored<Pod>, naming: Naming): Pick<Carrier, 'version' | 'image' | 'template'> {
  const { annotations = {} } = metadata;
  const image = spec?.containers?.find((container) => container.name === 'etcd')?.image ?? '';
  return {
    version: annotations[naming.versionAnnotation] ?? versionIn(image),
    image,
    template: annotations[templateAnnotation(naming)] ?? '',
  };
}

/** Whoever says nowhere which version it runs says it in the tag of its image. */
const versionIn = (image: string): string => /:v?(\d+\.\d+\.\d+)(?:@sha256:[0-9a-f]{64})?$/.exec(image)?.[1] ?? '';

/**
 * Until the kubelet has stopped it, the old one answers, and well; where only its image is another, nothing else tells them
 * apart. One that was given its old image again before the kubelet saw the other is not started again at all.
 */
function isChanging(pod: Stored<Pod>, etcd: ContainerStatus | undefined, naming: Naming): boolean {
  const restartsBefore = pod.metadata.annotations?.[restartsAnnotation(naming)];
  if (restartsBefore === undefined || etcd === undefined) return false;
  return etcd.restartCount <= Number(restartsBefore) && !isImageOf(etcd, madeFrom(pod, naming).image);
}

/** Container runtimes may report an image that was asked for by digest under another name; its id then has the digest. */
function isImageOf({ image, imageID }: ContainerStatus, asked: string): boolean {
  const [digest] = /@sha256:[0-9a-f]{64}$/.exec(asked) ?? [];
  return image === asked || (digest !== undefined && imageID.endsWith(digest));
}

const diskWithoutPod = (claim: Stored<PersistentVolumeClaim>, { naming }: Blueprint): Carrier => ({
  name: memberIn(claim),
  uid: claim.metadata.uid,
  phase: 'gone',
  ready: false,
  why: '',
  hasRun: false,
  unreadySince: undefined,
  sealed: true,
  disk: 'own',
  claim: claim.metadata.name,
  version: claim.metadata.annotations?.[naming.versionAnnotation] ?? '',
  image: '',
  template: '',
  drift: 'none',
});

function diskOf(pod: Stored<Pod>, claims: Bodies['claims']): Carrier['disk'] {
  if (claimNameOf(pod) === undefined) return 'with-pod';
  const claim = claimOf(pod, claims);
  return claim === undefined || isLost(claim) ? 'lost' : 'own';
}

export const claimNameOf = ({ spec }: Stored<Pod>): string | undefined =>
  spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;

const claimOf = (pod: Stored<Pod>, claims: Bodies['claims']): Stored<PersistentVolumeClaim> | undefined =>
  claims.find(({ metadata }) => metadata.name === claimNameOf(pod));

/** The volume behind the claim does not exist any more. */
export const isLost = ({ status }: Stored<PersistentVolumeClaim>): boolean => status?.phase === 'Lost';

function phaseOf(pod: Stored<Pod>, etcd: ContainerStatus | undefined): Pick<Carrier, 'phase' | 'why'> {
  if (pod.metadata.deletionTimestamp !== undefined) return { phase: 'stopping', why: '' };
  const status = pod.status ?? {};
  if (hasEnded(status)) return { phase: 'ended', why: status.message ?? '' };
  const obstacle = schedulingObstacle(status) ?? startingObstacle(pod, etcd);
  if (obstacle !== undefined) return { phase: 'stuck', why: obstacle };
  return { phase: isRunning(etcd) ? 'running' : 'starting', why: '' };
}

/** Kubernetes says that a volume is missing, but not of which class. */
function explained(
  { phase, why }: Pick<Carrier, 'phase' | 'why'>,
  claim: Stored<PersistentVolumeClaim> | undefined,
): Pick<Carrier, 'phase' | 'why'> {
  const isAboutVolume = phase === 'stuck' && /persistentvolumeclaim/i.test(why);
  if (!isAboutVolume || claim?.status?.phase !== 'Pending') return { phase, why };
  const of = claim.spec?.storageClassName;
  const kind = of === undefined ? 'there is no default StorageClass' : `no volume of StorageClass ${of} has been made`;
  return { phase, why: `${why}: for PersistentVolumeClaim ${claim.metadata.name} ${kind}` };
}

const isRunning = (etcd: ContainerStatus | undefined): boolean => etcd?.state?.running !== undefined;

type PodStatus = NonNullable<Pod['status']>;

const hasEnded = ({ phase }: PodStatus): boolean => phase === 'Failed' || phase === 'Succeeded';

function schedulingObstacle({ conditions = [] }: PodStatus): string | undefined {
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? `${scheduled.reason}: ${scheduled.message}` : undefined;
}

/** Waiting reasons that pass by themselves. Any other is something that a person, or a change of the spec, has to resolve. */
const passing = new Set(['ContainerCreating', 'PodInitializing']);

/** What keeps etcd from starting, or one of those that have to run before it. */
function startingObstacle(pod: Stored<Pod>, etcd: ContainerStatus | undefined): string | undefined {
  for (const container of pod.status?.initContainerStatuses ?? []) {
    const obstacle = obstacleOf(pod, container);
    if (obstacle !== undefined) return `init container ${container.name}: ${obstacle}`;
  }
  return etcd && obstacleOf(pod, etcd);
}

function obstacleOf(pod: Stored<Pod>, container: ContainerStatus): string | undefined {
  const waiting = container.state?.waiting;
  if (waiting?.reason === undefined || passing.has(waiting.reason)) return undefined;
  const says = waitingMessage(pod, container.name, waiting);
  return [waiting.reason, says, lastEnd(pod, container)].filter((text) => text !== undefined).join(': ');
}

function lastEnd(pod: Stored<Pod>, { name, lastState }: ContainerStatus): string | undefined {
  const ended = lastState?.terminated;
  if (ended === undefined) return undefined;
  return `ended with ${ended.exitCode} ${saidAtTheEnd(pod, name, ended.message ?? '')}`.trim();
}

const hasRun = (etcd: ContainerStatus | undefined): boolean =>
  etcd !== undefined && (etcd.restartCount > 0 || isRunning(etcd) || etcd.lastState?.terminated !== undefined);
