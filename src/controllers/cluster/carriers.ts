import { cannotGrowAnnotation, claimAnnotation, claimMark, storageOf } from '../../core/desired/claim.ts';
import { isSealed } from '../../core/desired/initial-cluster.ts';
import { isLabelled } from '../../core/desired/labels.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { believesAnnotation, changedAnnotation, templateAnnotation, templateMark } from '../../core/desired/pod.ts';
import { showsSecrets } from '../../core/desired/secret-volumes.ts';
import type { Carrier, CarrierName } from '../../core/model/cluster.ts';
import type { Naming } from '../../core/model/template.ts';
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
  const bareDisk = (claim: Stored<PersistentVolumeClaim>): Carrier => diskWithoutPod(claim, blueprint);
  const named = new Set(pods.map(({ metadata }) => metadata.name));
  const bare = claims.filter(({ metadata }) => !named.has(metadata.name) && metadata.deletionTimestamp === undefined);
  return [...withPods, ...bare.map(bareDisk)];
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
    unreadySince: unreadySince(pod, annotations[changedAnnotation(blueprint.naming)]),
    sealed: isSealed(annotations, blueprint.naming),
    disk: diskOf(pod, claims),
    ...madeFrom(pod, blueprint.naming),
    believes: believedBy(annotations, blueprint),
    drift: diskDrift(claimOf(pod, claims), blueprint) ?? podDrift(pod, { blueprint, mark }),
  };
}

function madeFrom({ metadata, spec }: Stored<Pod>, naming: Naming): Pick<Carrier, 'version' | 'image' | 'template'> {
  const { annotations = {} } = metadata;
  const etcd = spec?.containers?.find((container) => container.name === 'etcd');
  return {
    version: annotations[naming.versionAnnotation] ?? '',
    image: etcd?.image ?? '',
    template: annotations[templateAnnotation(naming)] ?? '',
  };
}

function diskDrift(
  claim: Stored<PersistentVolumeClaim> | undefined,
  { naming, template }: Blueprint,
): 'disk' | undefined {
  if (claim === undefined) return undefined;
  const mark = claimMark(template);
  const kind = claim.metadata.annotations?.[claimAnnotation(naming)] ?? mark;
  const isTooSmall = claim.metadata.annotations?.[cannotGrowAnnotation(naming)] === storageOf(template);
  return template.claim === undefined || kind !== mark || isTooSmall ? 'disk' : undefined;
}

function podDrift({ metadata, spec }: Stored<Pod>, { blueprint, mark }: Standard): Carrier['drift'] {
  const { naming, template } = blueprint;
  if (!showsSecrets(spec?.volumes ?? [], template)) return 'pod';
  if (!isMadeSo(metadata.annotations ?? {}, { blueprint, mark })) return 'pod';
  return isLabelled(metadata, template, naming) ? 'none' : 'labels';
}

/** A pod without a mark was made before there were marks, and is left as it is. */
function isMadeSo(annotations: Readonly<Record<string, string>>, { blueprint, mark }: Standard): boolean {
  const { naming, template } = blueprint;
  const believed = template.kept?.believed;
  return (
    (annotations[templateAnnotation(naming)] ?? mark) === mark &&
    (believed === undefined || believedBy(annotations, blueprint) === believed)
  );
}

/** The authorities that it read when it started. It may have read newer ones since, when only its container started again. */
const believedBy = (
  annotations: Readonly<Record<string, string>>,
  { naming, template }: Blueprint,
): string | undefined => annotations[believesAnnotation(naming)] ?? template.kept?.believedAtFirst;

const diskWithoutPod = ({ metadata }: Stored<PersistentVolumeClaim>, { naming }: Blueprint): Carrier => ({
  name: metadata.name as CarrierName,
  uid: metadata.uid,
  phase: 'gone',
  ready: false,
  why: '',
  hasRun: false,
  unreadySince: undefined,
  sealed: true,
  disk: 'own',
  version: metadata.annotations?.[naming.versionAnnotation] ?? '',
  image: '',
  template: '',
  drift: 'none',
});

function diskOf(pod: Stored<Pod>, claims: Bodies['claims']): Carrier['disk'] {
  if (claimNameOf(pod) === undefined) return 'with-pod';
  const claim = claimOf(pod, claims);
  return claim === undefined || isLost(claim) ? 'lost' : 'own';
}

const claimNameOf = ({ spec }: Stored<Pod>): string | undefined =>
  spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;

const claimOf = (pod: Stored<Pod>, claims: Bodies['claims']): Stored<PersistentVolumeClaim> | undefined =>
  claims.find(({ metadata }) => metadata.name === claimNameOf(pod));

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

/** When it was last given another image, it began anew: it is not to blame for what the one before did not do. */
function unreadySince(pod: Stored<Pod>, changed: string | undefined): number | undefined {
  if (isReady(pod)) return undefined;
  const since = Date.parse(readiness(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return Math.max(since, changed === undefined ? since : Date.parse(changed) || since);
}
