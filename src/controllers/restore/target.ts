import { speaking, wantedPlanes } from '../../core/desired/encryption.ts';
import type { OwnerReference } from '../../core/desired/manifest.ts';
import type { RestoreIntent } from '../../core/model/restore.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { ClusterTemplate } from '../../dialects/restore-dialect.ts';
import { ApiFailure, isAbsentOrUndefined } from '../../kube/errors.ts';
import type { Stored } from '../../kube/object.ts';
import { pods, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { withStatus } from '../cluster/publish.ts';
import { lookAtSecurity, type Security, withKeys } from '../cluster/security.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import { isOwnedBy, madeByAnnotation } from './bodies.ts';
import type { RestoreTools } from './sources.ts';

/** The cluster that gets the data. */
export interface Target {
  /** As it is stored; not there while the restore has yet to make it. */
  readonly object: Stored<ClusterObject> | undefined;
  /** As it is written. */
  readonly spec: unknown;
  readonly read: ReadCluster;
  /** With what its members are entered. */
  readonly entry: Security['entry'];
  readonly userFlaw: Security['userFlaw'];
  /** What is wrong with the Secrets that its spec names. */
  readonly problems: readonly string[];
  /** Those that are kept for members, where there are any. */
  readonly certificates: Security['certificates'];
}

/** What is asked for, and what is known of the cluster that is to be made: a sentence where that is not enough. */
export interface Described {
  readonly intent: RestoreIntent;
  readonly template: ClusterTemplate | string | undefined;
  /** The first member, once it is decided who that is. */
  readonly seed: string | undefined;
}

/** The cluster, or a sentence that says why there is none to work with. */
export interface Found {
  readonly target: Target | string;
  readonly isGone: boolean;
  /** One that has the name of a cluster that is to be made, and was made by somebody else. */
  readonly stranger: Stored<ClusterObject> | undefined;
}

export async function findTarget(described: Described, tools: RestoreTools): Promise<Found> {
  const { intent } = described;
  const named = await ownCluster(intent, tools);
  const stranger = isStranger(named, intent, tools) ? named : undefined;
  const object = stranger === undefined && named?.metadata.deletionTimestamp === undefined ? named : undefined;
  const target = object === undefined ? await imagined(described, tools) : await read(object, undefined, tools);
  return { target: withObject(target, object), isGone: object === undefined, stranger };
}

const isStranger = (named: Target['object'], intent: RestoreIntent, tools: RestoreTools): boolean =>
  intent.into === 'new' && named !== undefined && !isMadeBy(named, intent, tools);

type Unstored = Omit<Target, 'object'>;

const withObject = (target: Unstored | string, object: Target['object']): Target | string =>
  typeof target === 'string' ? target : { ...target, object };

/** The cluster with the name that a restore names; undefined if there is none. */
export async function clusterNamed(
  { namespace, cluster: name }: Pick<RestoreIntent, 'namespace' | 'cluster'>,
  resource: Resource<ClusterObject>,
  { client }: Pick<RestoreTools, 'client'>,
): Promise<Stored<ClusterObject> | undefined> {
  const found = await unless('not-found', client.get(resource, { namespace, name }), undefined);
  return found && withStatus(found, { dialect: resource });
}

/** The kind of clusters is not served: whether the cluster is there is not known. */
export class KindNotServed extends Failure {
  constructor({ kind, group }: Resource<ClusterObject>, cause: unknown) {
    super('unreachable', `the kind ${kind} (${group}) is not served: install its CRD`, { cause });
  }
}

/** The cluster of a restore, of the same API. Fails with `KindNotServed` if that API has no such kind. */
export function ownCluster(
  intent: RestoreIntent,
  tools: Pick<RestoreTools, 'client' | 'clusters'>,
): ReturnType<typeof clusterNamed> {
  const { resource } = tools.clusters;
  return clusterNamed(intent, resource, tools).catch((thrown: unknown) => {
    throw isAbsentOrUndefined(thrown) ? new KindNotServed(resource, thrown) : thrown;
  });
}

export const isMadeBy = (
  { metadata }: Stored<ClusterObject>,
  { uid }: RestoreIntent,
  { dialect }: RestoreTools,
): boolean => metadata.annotations?.[madeByAnnotation(dialect)] === uid;

const missing = ({ cluster }: RestoreIntent, { clusters: { dialect } }: RestoreTools): string =>
  `there is no ${dialect.kind} "${cluster}" in this namespace: create it, with the size and version it is to have`;

async function imagined({ intent, template, seed }: Described, tools: RestoreTools): Promise<Unstored | string> {
  const keeper = await keeperOf(intent, seed, tools);
  const raw = wanted({ ...intent, uid: keeper?.uid ?? intent.uid }, template, tools);
  return typeof raw === 'string' ? raw : read(raw, keeper, tools);
}

/** While there is no cluster, what is made for its members belongs to the first of them. */
async function keeperOf(
  { namespace, uid }: RestoreIntent,
  seed: string | undefined,
  { client }: RestoreTools,
): Promise<OwnerReference | undefined> {
  if (seed === undefined) return undefined;
  const pod = await unless('not-found', client.get(pods, { namespace, name: seed }), undefined);
  if (pod === undefined || !isOwnedBy(pod, uid)) return undefined;
  return { apiVersion: 'v1', kind: 'Pod', name: seed, uid: pod.metadata.uid, controller: true };
}

/** As it would be, were it there: until then another number stands for that of the cluster. */
function wanted(intent: RestoreIntent, template: Described['template'], tools: RestoreTools): ClusterObject | string {
  if (template === undefined) return missing(intent, tools);
  if (typeof template === 'string') return template;
  const { cluster: name, namespace, uid } = intent;
  const { group, version, kind } = tools.clusters.dialect;
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace, uid }, spec: template.spec };
}

async function read(
  raw: ClusterObject,
  keeper: OwnerReference | undefined,
  tools: RestoreTools,
): Promise<Unstored | string> {
  const { dialect } = tools.clusters;
  const result = dialect.read(raw);
  if (result.ok) return { spec: raw.spec, ...(await secured(keptBy(result.value, keeper), tools)) };
  const problems = result.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
  return `${dialect.kind} "${raw.metadata.name}" has a spec that makes no sense: ${problems}`;
}

const keptBy = (of: ReadCluster, keeper: OwnerReference | undefined): ReadCluster =>
  keeper === undefined ? of : { ...of, blueprint: { ...of.blueprint, owner: keeper } };

/** A seed is the first of a new cluster: it speaks as the spec says, with the certificates that are kept for members. */
async function secured(of: ReadCluster, tools: RestoreTools): Promise<Omit<Unstored, 'spec'>> {
  const planes = wantedPlanes(of.blueprint);
  const security = await lookAtSecurity(of, { planes, pods: [] }, tools);
  if (security.unread !== undefined) throw new ApiFailure('unreachable', security.unread);
  const blueprint = speaking(withKeys(of.blueprint, security), planes);
  const { entry, userFlaw, problems, certificates } = security;
  return { read: { ...of, blueprint }, entry, userFlaw, problems, certificates };
}
