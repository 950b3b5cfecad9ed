import { isSealed } from '../../core/desired/initial-cluster.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { templateAnnotation, templateMark } from '../../core/desired/pod.ts';
import type { Carrier, CarrierName } from '../../core/model/cluster.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

export interface Bodies {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
}

/** Sees pods and claims as the bodies of members. */
export function carriersOf({ pods, claims }: Bodies, blueprint: Blueprint): readonly Carrier[] {
  const mark = templateMark(blueprint);
  const withPods = pods.map((pod) => carrierOf(pod, claims, { blueprint, mark }));
  const named = new Set(pods.map(({ metadata }) => metadata.name));
  const bare = claims.filter(({ metadata }) => !named.has(metadata.name) && metadata.deletionTimestamp === undefined);
  return [...withPods, ...bare.map(diskWithoutPod)];
}

interface Standard {
  readonly blueprint: Blueprint;
  readonly mark: string;
}

function carrierOf(pod: Stored<Pod>, claims: Bodies['claims'], { blueprint, mark }: Standard): Carrier {
  const { name, uid, annotations = {} } = pod.metadata;
  const etcd = pod.status?.containerStatuses?.find((container) => container.name === 'etcd');
  return {
    name: name as CarrierName,
    uid,
    ...phaseOf(pod, etcd),
    ready: isReady(pod),
    hasRun: hasRun(etcd),
    unreadySince: unreadySince(pod),
    sealed: isSealed(annotations, blueprint.naming),
    disk: diskOf(pod, claims),
    asDesired: annotations[templateAnnotation(blueprint.naming)] === mark,
  };
}

const diskWithoutPod = ({ metadata }: Stored<PersistentVolumeClaim>): Carrier => ({
  name: metadata.name as CarrierName,
  uid: metadata.uid,
  phase: 'gone',
  ready: false,
  why: '',
  hasRun: false,
  unreadySince: undefined,
  sealed: true,
  disk: 'own',
  asDesired: true,
});

function diskOf({ spec }: Stored<Pod>, claims: Bodies['claims']): Carrier['disk'] {
  const volume = spec?.volumes?.find(({ name }) => name === 'etcd-data');
  const claimName = volume?.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return 'with-pod';
  return claims.some((claim) => claim.metadata.name === claimName && !isLost(claim)) ? 'own' : 'lost';
}

/** The volume behind the claim does not exist any more. */
export const isLost = ({ status }: Stored<PersistentVolumeClaim>): boolean => status?.phase === 'Lost';

function phaseOf(pod: Stored<Pod>, etcd: ContainerStatus | undefined): Pick<Carrier, 'phase' | 'why'> {
  if (pod.metadata.deletionTimestamp !== undefined) return { phase: 'stopping', why: '' };
  const status = pod.status ?? {};
  if (hasEnded(status)) return { phase: 'ended', why: status.message ?? '' };
  const obstacle = schedulingObstacle(status) ?? startingObstacle(etcd);
  if (obstacle !== undefined) return { phase: 'stuck', why: obstacle };
  return { phase: isRunning(etcd) ? 'running' : 'starting', why: '' };
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

function startingObstacle(etcd: ContainerStatus | undefined): string | undefined {
  const waiting = etcd?.state?.waiting;
  if (waiting?.reason === undefined || passing.has(waiting.reason)) return undefined;
  return [waiting.reason, waiting.message, lastWords(etcd)].filter((text) => text !== undefined).join(': ');
}

function lastWords(etcd: ContainerStatus | undefined): string | undefined {
  const ended = etcd?.lastState?.terminated;
  return ended === undefined ? undefined : `ended with ${ended.exitCode} ${ended.message ?? ''}`.trim();
}

const isReady = (pod: Stored<Pod>): boolean => readiness(pod)?.status === 'True';

const readiness = (pod: Stored<Pod>) => pod.status?.conditions?.find(({ type }) => type === 'Ready');

const hasRun = (etcd: ContainerStatus | undefined): boolean =>
  etcd !== undefined && (etcd.restartCount > 0 || isRunning(etcd) || etcd.lastState?.terminated !== undefined);

function unreadySince(pod: Stored<Pod>): number | undefined {
  if (isReady(pod)) return undefined;
  return Date.parse(readiness(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
}
