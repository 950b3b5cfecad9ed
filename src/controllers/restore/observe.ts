import { isKept } from '../../core/desired/kept-claim.ts';
import type { Agent } from '../../core/model/agent.ts';
import { memberOfClaim } from '../../core/model/claim-names.ts';
import { freeOrdinals } from '../../core/model/ordinals.ts';
import type { Body, RestoredCluster, RestoreIntent, RestoreWorld, Seed } from '../../core/model/restore.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { hexOf, type MemberStatus } from '../../etcd/words.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { agentOf } from '../agents/agent-of-pod.ts';
import { storeAccess } from '../agents/store-access.ts';
import { refusalOfClaim } from '../backup/member-claims.ts';
import { fetchSecret } from '../cluster/fetch-secret.ts';
import { refusalOf } from '../cluster/membership.ts';
import { endpointOf, refusedUser, wayOf } from '../cluster/observe.ts';
import { type ClusterObject, ownerIndex } from '../cluster/sources.ts';
import { type Bodies, bodiesIn, bodyOf, isLeftTo, isMadeFor, isOwnedBy } from './bodies.ts';
import { templateFor } from './described.ts';
import { pinOf } from './pin.ts';
import { isUp, stateOfSeed } from './seed-state.ts';
import type { RestoreTools } from './sources.ts';
import { takenFor } from './taken.ts';
import { findTarget, type Target } from './target.ts';

/** What a pass over a restore knows. */
export interface ObservedRestore {
  readonly world: RestoreWorld;
  /** Not there if there is no cluster, nor one to be made, that makes sense. */
  readonly target: Target | undefined;
}

export async function observeRestore(
  { metadata: { finalizers, deletionTimestamp } }: Stored<ClusterObject>,
  restore: ReadRestore,
  tools: RestoreTools,
): Promise<ObservedRestore> {
  const { intent, memory } = restore;
  const proof = proofOf(restore, tools);
  const template = templateFor(restore, proof, tools);
  const found = await findTarget({ intent, template, seed: memory.seed }, tools);
  const target = typeof found.target === 'string' ? undefined : found.target;
  const bodies = await bodiesIn(intent, tools);
  const overdue = tools.terminating.overdue(keyOf(intent), bodies.pods);
  return {
    target,
    world: {
      now: tools.now().getTime(),
      intent,
      memory,
      cluster:
        typeof found.target === 'string'
          ? found.target
          : await clusterOf(found.target, { intent, seed: memory.seed, bodies, overdue }, tools),
      isClusterGone: found.isGone,
      isUndescribed: restore.template === 'in-backup' && typeof template === 'string',
      taken: await takenFor(intent, { found, bodies }, tools),
      proof,
      aside: bodies.claims
        .filter((claim) => isOwnedBy(claim, intent.uid) && claim.metadata.name !== memory.seed)
        .map(bodyOf),
      isOnVolume: isOnVolume(intent.store),
      hasSeedVolume: bodies.claims.some((claim) => isOwnSeed(claim, restore) && bodyOf(claim).isGoing !== true),
      seedPod: bodies.pods.filter((pod) => isOwnSeed(pod, restore)).map((pod) => terminatingBody(pod, overdue))[0],
      isGoing: deletionTimestamp !== undefined,
      isPinned: finalizers?.includes(pinOf(tools)) === true,
      spareName: seedNameFor(intent, { target, bodies }, tools),
      obstacle: proof === undefined ? await obstacleFor(intent, target, tools) : undefined,
    },
  };
}

function proofOf({ intent, memory }: ReadRestore, { caches, dialect }: RestoreTools): Agent | undefined {
  const agents = caches.agents.by(ownerIndex, intent.namespace, intent.uid);
  const proof = agents.find(({ metadata }) => metadata.name !== memory.seed);
  return proof && agentOf(proof, dialect.group);
}

const isOwnSeed = (body: KubeObject, { intent, memory }: ReadRestore): boolean =>
  body.metadata.name === memory.seed && isOwnedBy(body, intent.uid);

/** `overdue`: the UIDs of pods that should have been gone for a while. */
const terminatingBody = (pod: Stored<Pod>, overdue: ReadonlySet<string>): Body => ({
  ...bodyOf(pod),
  isOverdue: overdue.has(pod.metadata.uid),
});

/** Where members are numbered, the lowest number that no member, pod or volume has. */
function seedNameFor(
  { cluster }: RestoreIntent,
  { target, bodies }: { readonly target: Target | undefined; readonly bodies: Bodies },
  { randomName }: RestoreTools,
): string {
  if (target?.read.blueprint.intent.memberNames !== 'ordinal') return randomName(cluster);
  const named = [...bodies.pods, ...bodies.claims].map(({ metadata }) => metadata.name);
  const taken = [...named, ...named.map(memberOfClaim)];
  return freeOrdinals(cluster, new Set([...taken, ...target.read.memory.voters]), 1)[0] ?? randomName(cluster);
}

interface Looking {
  readonly intent: RestoreIntent;
  readonly seed: string | undefined;
  readonly bodies: Bodies;
  readonly overdue: ReadonlySet<string>;
}

async function clusterOf(
  target: Target,
  { intent, seed, bodies, overdue }: Looking,
  tools: RestoreTools,
): Promise<RestoredCluster> {
  const { object, read } = target;
  const isOfCluster = (each: KubeObject): boolean => object !== undefined && isOwnedBy(each, object.metadata.uid);
  const isClaimOfIt = (each: KubeObject): boolean =>
    !isKept(each.metadata, read.blueprint.naming) && (isOfCluster(each) || isLeftTo(object, each, read.blueprint));
  const others = ({ metadata }: KubeObject): boolean => metadata.name !== seed;
  const named = [...bodies.pods, ...bodies.claims].filter(({ metadata }) => metadata.name === seed);
  const isOfRestore = (each: KubeObject): boolean => isMadeFor(each, intent, tools);
  const pod = bodies.pods.find((each) => named.includes(each) && isOfRestore(each));
  return {
    isThere: object !== undefined,
    ...holdOf(object, tools),
    clusterId: read.memory.clusterId,
    version: read.blueprint.intent.version,
    isSettled: isSettled(target, tools),
    isLost: conditionsOf(object).some(({ reason }) => reason === 'QuorumLost'),
    isPaused: read.blueprint.intent.paused && read.blueprint.intent.heldBy === undefined,
    trouble: troubleOf(object),
    keepsVolumes: read.blueprint.intent.keepVolumesSeconds > 0,
    oldPods: bodies.pods
      .filter(isOfCluster)
      .filter(others)
      .map((each) => terminatingBody(each, overdue)),
    oldClaims: bodies.claims.filter(isClaimOfIt).filter(others).map(bodyOf),
    seed: pod && (await seedIn(pod, { ...target, asker: keyOf(intent) }, tools)),
    isSeedNameTaken: pod === undefined && !named.every(isOfRestore),
  };
}

/** The rest, such as a member that does not answer, passes by itself. */
const forPeople: ReadonlySet<string | undefined> = new Set(['SecretUnfit', 'BadSpec', 'MemberStuck', 'MissingRights']);

const troubleOf = (object: Target['object']): string | undefined =>
  conditionsOf(object).find(
    ({ type, status, reason }) => type === 'Degraded' && status === 'True' && forPeople.has(reason),
  )?.message;

const holdOf = (
  object: Target['object'],
  { dialect }: RestoreTools,
): Pick<RestoredCluster, 'heldBy' | 'holdAskedBy'> => ({
  heldBy: (object?.status as { readonly heldBy?: string } | undefined)?.heldBy,
  holdAskedBy: object?.metadata.annotations?.[dialect.holdAnnotation],
});

interface StatusSeen {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

const conditionsOf = (object: Target['object']): NonNullable<StatusSeen['conditions']> =>
  ((object?.status ?? {}) as StatusSeen).conditions ?? [];

function isSettled({ object, read }: Target, { dialect }: RestoreTools): boolean {
  const conditions = conditionsOf(object);
  const { ready, size } = dialect.countsIn(object?.status ?? {});
  const isQuiet = conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'AsDesired');
  const wanted = read.blueprint.intent.size;
  return isQuiet && ready === wanted && size === wanted;
}

/** `asker`: the restore that the seed is asked for. */
interface Asked extends Target {
  readonly asker: string;
}

async function seedIn(pod: Stored<Pod>, target: Asked, tools: RestoreTools): Promise<Seed> {
  const heard = isUp(pod) ? await wordOf(pod, target, tools) : undefined;
  const said = typeof heard === 'string' ? undefined : heard;
  const found = await stateOfSeed(pod, said !== undefined && said.leader !== 0n, tools);
  return {
    ...bodyOf(pod),
    isUp: isUp(pod),
    ...found,
    ...(typeof heard === 'string' && found.state === 'starting' ? { state: 'locked', why: heard } : {}),
    isHandedOver: target.object !== undefined && isOwnedBy(pod, target.object.metadata.uid),
    ...(said === undefined
      ? { clusterId: undefined }
      : { clusterId: hexOf(said.clusterId), memberId: hexOf(said.memberId) }),
  };
}

/** That it does not answer yet is nothing to complain of; that it has users whom nobody told us of is. */
async function wordOf(
  pod: Stored<Pod>,
  { read, entry, userFlaw, asker: owner }: Asked,
  tools: RestoreTools,
): Promise<MemberStatus | string | undefined> {
  const endpoint = wayOf(pod, { ...endpointOf(pod, entry, read.blueprint), ...entry, owner }, tools);
  const connection = tools.etcd.to(endpoint);
  tools.etcd.keepOnly(owner, [connection]);
  const asked = connection.status({ timeoutMillis: 2_000 });
  return asked.catch((thrown: unknown) => refusedUser(refusalOf(thrown), { ...read, userFlaw })[0]);
}

type Store = RestoreIntent['store'];

const isOnVolume = (store: Store): boolean => storeAccess(store, 'to-read').mounts.some((mount) => 'claim' in mount);

async function obstacleFor(
  { store, namespace, into }: RestoreIntent,
  target: Target | undefined,
  tools: RestoreTools,
): Promise<string | undefined> {
  if (typeof tools.image === 'string') return tools.image;
  const [problem] = into === 'new' ? (target?.problems ?? []) : [];
  return problem ?? (await ofMember(store, namespace, tools)) ?? (await missingSecret(store, namespace, tools));
}

/** A member's volume is refused also for reading: a pod that holds the volume may keep the member from starting elsewhere. */
const ofMember = async (store: Store, namespace: string, tools: RestoreTools): Promise<string | undefined> =>
  isOnVolume(store) ? refusalOfClaim(store, namespace, tools) : undefined;

async function missingSecret({ secret }: Store, namespace: string, tools: RestoreTools): Promise<string | undefined> {
  if (secret === undefined || (await fetchSecret(secret, namespace, tools)) !== 'missing') return undefined;
  return `Secret "${secret}" is not there: create it in namespace "${namespace}"`;
}
