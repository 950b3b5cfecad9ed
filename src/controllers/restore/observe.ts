import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { Agent } from '../../core/backup/agent.ts';
import { freeOrdinals } from '../../core/cluster/model/ordinals.ts';
import { memberOfClaim } from '../../core/cluster/model/pvc-names.ts';
import { isOfRemovedMember } from '../../core/manifests/removed-pvc.ts';
import type { ObjectRef, RestoredCluster, RestoreIntent, RestoreWorld, Seed } from '../../core/restore/model.ts';
import { hexOf, type MemberStatus } from '../../etcd/types.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { refusalToReadPvc } from '../backup/member-claims.ts';
import { refusedUser } from '../cluster/observe/etcd-auth.ts';
import { endpointOf, withDialer } from '../cluster/observe/etcd-connections.ts';
import type { PodsAndPvcs } from '../cluster/observe/members.ts';
import { authRefusalOf } from '../cluster/observe/membership.ts';
import { agentOf } from '../shared/agent-pods.ts';
import { type ClusterObject, ownerIndex } from '../shared/context.ts';
import { fetchSecret } from '../shared/secret-reader.ts';
import { storeAccess } from '../shared/store-access.ts';
import { templateFor } from './cluster-template.ts';
import type { RestoreContext } from './context.ts';
import { restoreFinalizer } from './finalizer.ts';
import { nameConflictFor } from './name-conflicts.ts';
import { isLabelledFor, isMadeFor, objectRef, podsAndPvcsIn } from './pods-and-pvcs.ts';
import { isUp, stateOfSeed } from './seed-state.ts';
import { findTarget, type Target } from './target.ts';

/** The observed state of one EtcdRestore in one pass. */
export interface ObservedRestore {
  readonly world: RestoreWorld;
  /** Undefined if there is no cluster with a valid spec, neither existing nor to be created. */
  readonly target: Target | undefined;
}

export async function observeRestore(
  { metadata: { finalizers, deletionTimestamp } }: Stored<ClusterObject>,
  restore: ReadRestore,
  context: RestoreContext,
): Promise<ObservedRestore> {
  const { intent, memory } = restore;
  const proof = proofOf(restore, context);
  const template = templateFor(restore, proof, context);
  const found = await findTarget({ intent, template, seed: memory.seed }, context);
  const target = typeof found.target === 'string' ? undefined : found.target;
  const podsAndPvcs = await podsAndPvcsIn(intent, context);
  const overdue = context.terminating.overdue(keyOf(intent), podsAndPvcs.pods);
  return {
    target,
    world: {
      now: context.now().getTime(),
      intent,
      memory,
      cluster:
        typeof found.target === 'string'
          ? found.target
          : await clusterOf(found.target, { intent, seed: memory.seed, podsAndPvcs, overdue }, context),
      isClusterGone: found.isGone,
      isUndescribed: restore.template === 'in-backup' && typeof template === 'string',
      nameConflict: await nameConflictFor(intent, { found, podsAndPvcs }, context),
      proof,
      retainedClaims: podsAndPvcs.claims
        .filter((claim) => isOwnedBy(claim, intent.uid) && claim.metadata.name !== memory.seed)
        .map(objectRef),
      isOnVolume: isOnVolume(intent.store),
      hasSeedVolume: hasSeedPvc(podsAndPvcs, restore),
      seedPod: podsAndPvcs.pods.filter((pod) => isOwnSeed(pod, restore)).map((pod) => terminatingRef(pod, overdue))[0],
      isTerminating: deletionTimestamp !== undefined,
      isPinned: finalizers?.includes(restoreFinalizer(context)) === true,
      spareName: seedNameFor(intent, { target, podsAndPvcs }, context),
      obstacle: proof === undefined ? await obstacleFor(intent, target, context) : undefined,
    },
  };
}

function proofOf({ intent, memory }: ReadRestore, { caches, dialect }: RestoreContext): Agent | undefined {
  const agents = caches.agents.by(ownerIndex, intent.namespace, intent.uid);
  const proof = agents.find(({ metadata }) => metadata.name !== memory.seed);
  return proof && agentOf(proof, dialect.group);
}

const isOwnSeed = (object: KubeObject, { intent, memory }: ReadRestore): boolean =>
  object.metadata.name === memory.seed && isOwnedBy(object, intent.uid);

const hasSeedPvc = ({ claims }: PodsAndPvcs, restore: ReadRestore): boolean =>
  claims.some((claim) => isOwnSeed(claim, restore) && objectRef(claim).isTerminating !== true);

/** `overdue` holds the UIDs of Pods that take too long to terminate. */
const terminatingRef = (pod: Stored<Pod>, overdue: ReadonlySet<string>): ObjectRef => ({
  ...objectRef(pod),
  isOverdue: overdue.has(pod.metadata.uid),
});

/** For numbered members, the lowest number that no member, Pod or PVC has; otherwise a random name. */
function seedNameFor(
  { cluster }: RestoreIntent,
  { target, podsAndPvcs }: { readonly target: Target | undefined; readonly podsAndPvcs: PodsAndPvcs },
  { randomName }: RestoreContext,
): string {
  if (target?.read.blueprint.intent.memberNames !== 'ordinal') return randomName(cluster);
  const named = [...podsAndPvcs.pods, ...podsAndPvcs.claims].map(({ metadata }) => metadata.name);
  const taken = [...named, ...named.map(memberOfClaim)];
  return freeOrdinals(cluster, new Set([...taken, ...target.read.memory.voters]), 1)[0] ?? randomName(cluster);
}

interface ClusterQuery {
  readonly intent: RestoreIntent;
  readonly seed: string | undefined;
  readonly podsAndPvcs: PodsAndPvcs;
  readonly overdue: ReadonlySet<string>;
}

async function clusterOf(
  target: Target,
  { intent, seed, podsAndPvcs, overdue }: ClusterQuery,
  context: RestoreContext,
): Promise<RestoredCluster> {
  const { object, read } = target;
  const isOfCluster = (each: KubeObject): boolean => object !== undefined && isOwnedBy(each, object.metadata.uid);
  const isClaimOfIt = (each: KubeObject): boolean =>
    !isOfRemovedMember(each.metadata, read.blueprint.naming) &&
    (isOfCluster(each) || isLabelledFor(object, each, read.blueprint));
  const others = ({ metadata }: KubeObject): boolean => metadata.name !== seed;
  const named = [...podsAndPvcs.pods, ...podsAndPvcs.claims].filter(({ metadata }) => metadata.name === seed);
  const isOfRestore = (each: KubeObject): boolean => isMadeFor(each, intent, context);
  const pod = podsAndPvcs.pods.find((each) => named.includes(each) && isOfRestore(each));
  return {
    isThere: object !== undefined,
    ...holdOf(object, context),
    clusterId: read.memory.clusterId,
    version: read.blueprint.intent.version,
    isSettled: isSettled(target, context),
    isLost: conditionsOf(object).some(({ reason }) => reason === 'QuorumLost'),
    isPaused: read.blueprint.intent.paused && read.blueprint.intent.heldBy === undefined,
    trouble: troubleOf(object),
    keepsVolumes: read.blueprint.intent.keepVolumesSeconds > 0,
    oldPods: podsAndPvcs.pods
      .filter(isOfCluster)
      .filter(others)
      .map((each) => terminatingRef(each, overdue)),
    oldClaims: podsAndPvcs.claims.filter(isClaimOfIt).filter(others).map(objectRef),
    seed: pod && (await seedIn(pod, { ...target, restoreKey: keyOf(intent) }, context)),
    isSeedNameTaken: pod === undefined && !named.every(isOfRestore),
  };
}

/** Reasons of Degraded that need user action. All others, such as an unreachable member, are transient. */
const needsUserAction: ReadonlySet<string | undefined> = new Set([
  'InvalidSecret',
  'BadSpec',
  'MemberStuck',
  'MissingRights',
]);

const troubleOf = (object: Target['object']): string | undefined =>
  conditionsOf(object).find(
    ({ type, status, reason }) => type === 'Degraded' && status === 'True' && needsUserAction.has(reason),
  )?.message;

const holdOf = (
  object: Target['object'],
  { dialect }: RestoreContext,
): Pick<RestoredCluster, 'heldBy' | 'holdAskedBy'> => ({
  heldBy: (object?.status as { readonly heldBy?: string } | undefined)?.heldBy,
  holdAskedBy: object?.metadata.annotations?.[dialect.holdAnnotation],
});

interface StatusWithConditions {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

const conditionsOf = (object: Target['object']): NonNullable<StatusWithConditions['conditions']> =>
  ((object?.status ?? {}) as StatusWithConditions).conditions ?? [];

function isSettled({ object, read }: Target, { dialect }: RestoreContext): boolean {
  const conditions = conditionsOf(object);
  const { ready, size } = dialect.countsIn(object?.status ?? {});
  const isQuiet = conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'AsDesired');
  const wanted = read.blueprint.intent.size;
  return isQuiet && ready === wanted && size === wanted;
}

/** The target and the key of the restore that owns the connection to the seed. */
interface SeedTarget extends Target {
  readonly restoreKey: string;
}

async function seedIn(pod: Stored<Pod>, target: SeedTarget, context: RestoreContext): Promise<Seed> {
  const answer = isUp(pod) ? await seedStatus(pod, target, context) : undefined;
  const status = typeof answer === 'string' ? undefined : answer;
  const found = await stateOfSeed(pod, status !== undefined && status.leader !== 0n, context);
  return {
    ...objectRef(pod),
    isUp: isUp(pod),
    ...found,
    ...(typeof answer === 'string' && found.state === 'starting' ? { state: 'locked', why: answer } : {}),
    isHandedOver: target.object !== undefined && isOwnedBy(pod, target.object.metadata.uid),
    ...(status === undefined
      ? { clusterId: undefined }
      : { clusterId: hexOf(status.clusterId), memberId: hexOf(status.memberId) }),
  };
}

/** The seed's status; undefined if it does not answer yet; a message if etcd auth refuses the operator's user. */
async function seedStatus(
  pod: Stored<Pod>,
  { read, entry, userProblem, restoreKey: owner }: SeedTarget,
  context: RestoreContext,
): Promise<MemberStatus | string | undefined> {
  const endpoint = withDialer(pod, { ...endpointOf(pod, entry, read.blueprint), ...entry, owner }, context);
  const connection = context.etcd.to(endpoint);
  context.etcd.keepOnly(owner, [connection]);
  const status = connection.status({ timeoutMillis: 2_000 });
  return status.catch((thrown: unknown) => refusedUser(authRefusalOf(thrown), { ...read, userProblem })[0]);
}

type Store = RestoreIntent['store'];

const isOnVolume = (store: Store): boolean => storeAccess(store, 'to-read').mounts.some((mount) => 'claim' in mount);

async function obstacleFor(
  { store, namespace, into }: RestoreIntent,
  target: Target | undefined,
  context: RestoreContext,
): Promise<string | undefined> {
  if (typeof context.image === 'string') return context.image;
  const [problem] = into === 'new' ? (target?.problems ?? []) : [];
  return (
    problem ?? (await memberPvcRefusal(store, namespace, context)) ?? (await missingSecret(store, namespace, context))
  );
}

/**
 * PVCs of members are refused for reading, too: a Pod that mounts one may keep the member from starting on another
 * node.
 */
const memberPvcRefusal = async (
  store: Store,
  namespace: string,
  context: RestoreContext,
): Promise<string | undefined> => (isOnVolume(store) ? refusalToReadPvc(store, namespace, context) : undefined);

async function missingSecret(
  { secret }: Store,
  namespace: string,
  context: RestoreContext,
): Promise<string | undefined> {
  if (secret === undefined || (await fetchSecret(secret, namespace, context)) !== 'missing') return undefined;
  return `Secret "${secret}" does not exist: create it in namespace "${namespace}"`;
}
