import { isOfRemovedMember } from '../../core/manifests/removed-pvc.ts';
import type { RestoredCluster, RestoreIntent, Seed } from '../../core/restore/model.ts';
import { hexOf, type MemberStatus } from '../../etcd/types.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { refusedUser } from '../cluster/observe/etcd-auth.ts';
import { endpointOf, withDialer } from '../cluster/observe/etcd-connections.ts';
import type { PodsAndPvcs } from '../cluster/observe/members.ts';
import { authRefusalOf } from '../cluster/observe/membership.ts';
import type { RestoreContext } from './context.ts';
import { isLabelledFor, isMadeFor, objectRef, terminatingRef } from './pods-and-pvcs.ts';
import { isUp, stateOfSeed } from './seed-state.ts';
import type { Target } from './target.ts';

interface ClusterQuery {
  readonly intent: RestoreIntent;
  readonly seed: string | undefined;
  readonly podsAndPvcs: PodsAndPvcs;
  readonly overdue: ReadonlySet<string>;
}

/** The observed state of the cluster that gets the data, and of its seed. */
export async function clusterOf(
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
