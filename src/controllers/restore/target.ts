import type { ReadCluster } from '../../apis/common/dialect.ts';
import type { ClusterTemplate } from '../../apis/common/restore-dialect.ts';
import type { OwnerReference } from '../../core/manifests/manifest.ts';
import { wantedTlsModes, withTlsModes } from '../../core/manifests/tls-mode.ts';
import type { RestoreIntent } from '../../core/restore/model.ts';
import { ApiFailure, isAbsentOrUndefined } from '../../kube/errors.ts';
import type { Stored } from '../../kube/object.ts';
import { pods, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { observeSecurity, type Security, withKeys } from '../cluster/tls/tls-state.ts';
import type { ClusterObject } from '../shared/context.ts';
import { withStatus } from '../shared/status-writer.ts';
import type { RestoreContext } from './context.ts';
import { madeByAnnotation } from './pods-and-pvcs.ts';

/** The EtcdCluster that gets the data. */
export interface Target {
  /** The stored object; undefined until the restore has created it. */
  readonly object: Stored<ClusterObject> | undefined;
  readonly spec: unknown;
  readonly read: ReadCluster;
  /** Credentials for its members. */
  readonly entry: Security['entry'];
  readonly userProblem: Security['userProblem'];
  /** Problems with the Secrets that its spec names. */
  readonly problems: readonly string[];
  /** Certificates that the operator keeps for its members, if any. */
  readonly certificates: Security['certificates'];
}

/** The restore, and the template of the cluster to create: a message if the template is unknown. */
export interface TargetRequest {
  readonly intent: RestoreIntent;
  readonly template: ClusterTemplate | string | undefined;
  /** Name of the seed, once it is chosen. */
  readonly seed: string | undefined;
}

/** The target, or a message why there is none. */
export interface Found {
  readonly target: Target | string;
  readonly isGone: boolean;
  /** An EtcdCluster with the name of the cluster to create that this restore did not create. */
  readonly foreignObject: Stored<ClusterObject> | undefined;
}

export async function findTarget(request: TargetRequest, context: RestoreContext): Promise<Found> {
  const { intent } = request;
  const named = await ownCluster(intent, context);
  const foreignObject = isForeignObject(named, intent, context) ? named : undefined;
  const object = foreignObject === undefined && named?.metadata.deletionTimestamp === undefined ? named : undefined;
  const target = object === undefined ? await plannedTarget(request, context) : await read(object, undefined, context);
  return { target: withObject(target, object), isGone: object === undefined, foreignObject };
}

const isForeignObject = (named: Target['object'], intent: RestoreIntent, context: RestoreContext): boolean =>
  intent.into === 'new' && named !== undefined && !isMadeBy(named, intent, context);

type Unstored = Omit<Target, 'object'>;

const withObject = (target: Unstored | string, object: Target['object']): Target | string =>
  typeof target === 'string' ? target : { ...target, object };

/** The EtcdCluster that a restore names; undefined if there is none. */
export async function clusterNamed(
  { namespace, cluster: name }: Pick<RestoreIntent, 'namespace' | 'cluster'>,
  resource: Resource<ClusterObject>,
  { client }: Pick<RestoreContext, 'client'>,
): Promise<Stored<ClusterObject> | undefined> {
  const found = await unless('not-found', client.get(resource, { namespace, name }), undefined);
  return found && withStatus(found, { dialect: resource });
}

/** The kind EtcdCluster is not served, so it is unknown whether the cluster exists. */
export class KindNotServed extends Failure {
  constructor({ kind, group }: Resource<ClusterObject>, cause: unknown) {
    super('unreachable', `the kind ${kind} (${group}) is not served: install its CRD`, { cause });
  }
}

/** The EtcdCluster of a restore, in the same API. Throws `KindNotServed` if its CRD is missing. */
export function ownCluster(
  intent: RestoreIntent,
  context: Pick<RestoreContext, 'client' | 'clusters'>,
): ReturnType<typeof clusterNamed> {
  const { resource } = context.clusters;
  return clusterNamed(intent, resource, context).catch((thrown: unknown) => {
    throw isAbsentOrUndefined(thrown) ? new KindNotServed(resource, thrown) : thrown;
  });
}

export const isMadeBy = (
  { metadata }: Stored<ClusterObject>,
  { uid }: RestoreIntent,
  { dialect }: RestoreContext,
): boolean => metadata.annotations?.[madeByAnnotation(dialect)] === uid;

const missing = ({ cluster }: RestoreIntent, { clusters: { dialect } }: RestoreContext): string =>
  `there is no ${dialect.kind} "${cluster}" in this namespace: create it with the wanted size and version`;

async function plannedTarget(
  { intent, template, seed }: TargetRequest,
  context: RestoreContext,
): Promise<Unstored | string> {
  const seedOwner = await seedOwnerOf(intent, seed, context);
  const raw = clusterFor({ ...intent, uid: seedOwner?.uid ?? intent.uid }, template, context);
  return typeof raw === 'string' ? raw : read(raw, seedOwner, context);
}

/** Before the EtcdCluster exists, the seed Pod owns the objects of its members. */
async function seedOwnerOf(
  { namespace, uid }: RestoreIntent,
  seed: string | undefined,
  { client }: RestoreContext,
): Promise<OwnerReference | undefined> {
  if (seed === undefined) return undefined;
  const pod = await unless('not-found', client.get(pods, { namespace, name: seed }), undefined);
  if (pod === undefined || !isOwnedBy(pod, uid)) return undefined;
  return { apiVersion: 'v1', kind: 'Pod', name: seed, uid: pod.metadata.uid, controller: true };
}

/** The EtcdCluster as it will be created, with a placeholder UID. */
function clusterFor(
  intent: RestoreIntent,
  template: TargetRequest['template'],
  context: RestoreContext,
): ClusterObject | string {
  if (template === undefined) return missing(intent, context);
  if (typeof template === 'string') return template;
  const { cluster: name, namespace, uid } = intent;
  const { group, version, kind } = context.clusters.dialect;
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace, uid }, spec: template.spec };
}

async function read(
  raw: ClusterObject,
  seedOwner: OwnerReference | undefined,
  context: RestoreContext,
): Promise<Unstored | string> {
  const { dialect } = context.clusters;
  const result = dialect.read(raw);
  if (result.ok) return { spec: raw.spec, ...(await withTls(withOwner(result.value, seedOwner), context)) };
  const problems = result.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return `${dialect.kind} "${raw.metadata.name}" has an invalid spec: ${problems}`;
}

const withOwner = (of: ReadCluster, seedOwner: OwnerReference | undefined): ReadCluster =>
  seedOwner === undefined ? of : { ...of, blueprint: { ...of.blueprint, owner: seedOwner } };

/** The seed is the first member of a new cluster: it uses the TLS modes of the spec and the certificates of members. */
async function withTls(of: ReadCluster, context: RestoreContext): Promise<Omit<Unstored, 'spec'>> {
  const tlsModes = wantedTlsModes(of.blueprint);
  const security = await observeSecurity(of, { tlsModes, pods: [] }, context);
  if (security.unread !== undefined) throw new ApiFailure('unreachable', security.unread);
  const blueprint = withTlsModes(withKeys(of.blueprint, security), tlsModes);
  const { entry, userProblem, problems, certificates } = security;
  return { read: { ...of, blueprint }, entry, userProblem, problems, certificates };
}
