import { speaking, wantedPlanes } from '../../core/desired/encryption.ts';
import type { Body, RestoredCluster, RestoreIntent, RestoreWorld, Seed } from '../../core/model/restore.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { hexOf } from '../../etcd/words.ts';
import type { KubeObject, PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { agentOf, stateOf } from '../agents/agent-of-pod.ts';
import { fetchSecret } from '../cluster/fetch-secret.ts';
import { endpointOf, wayOf } from '../cluster/observe.ts';
import { lookAtSecurity, type Security, withKeys } from '../cluster/security.ts';
import { type ClusterObject, ownerIndex } from '../cluster/sources.ts';
import { pinOf } from './pin.ts';
import type { RestoreTools } from './sources.ts';

/** What a pass over a restore knows. */
export interface ObservedRestore {
  readonly world: RestoreWorld;
  /** The cluster, as it is stored and as it was read; not there if there is none that makes sense. */
  readonly target: Target | undefined;
}

export interface Target {
  readonly object: Stored<ClusterObject>;
  readonly read: ReadCluster;
  /** With what its members are entered. */
  readonly entry: Security['entry'];
}

export async function observeRestore(
  { metadata: { finalizers } }: Stored<ClusterObject>,
  { intent, memory }: ReadRestore,
  tools: RestoreTools,
): Promise<ObservedRestore> {
  const found = await findCluster(intent, tools);
  const isClusterGone = found === goneFor(intent, tools);
  const agents = tools.caches.agents.by(ownerIndex, intent.uid);
  const proof = agents.find(({ metadata }) => metadata.name !== memory.seed);
  const bodies = typeof found === 'string' ? nobody : await bodiesIn(intent, tools);
  const cluster =
    typeof found === 'string' ? found : await clusterOf(found, { intent, seed: memory.seed, bodies }, tools);
  return {
    target: typeof found === 'string' ? undefined : found,
    world: {
      now: tools.now().getTime(),
      intent,
      memory,
      cluster,
      isClusterGone,
      proof: proof && agentOf(proof, tools.dialect.group),
      aside: bodies.claims
        .filter((claim) => isOwnedBy(claim, intent.uid) && claim.metadata.name !== memory.seed)
        .map(bodyOf),
      isPinned: finalizers?.includes(pinOf(tools)) === true,
      spareName: tools.randomName(intent.cluster),
      obstacle: memory.phase === 'proving' ? await obstacleFor(intent, tools) : undefined,
    },
  };
}

interface Bodies {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
}

const nobody: Bodies = { pods: [], claims: [] };

/** Everything in the namespace that could belong to the cluster or to the restore: labels are what the restore changes. */
async function bodiesIn({ namespace }: RestoreIntent, { client }: RestoreTools): Promise<Bodies> {
  const [foundPods, foundClaims] = await Promise.all([
    client.list(pods, { namespace }),
    client.list(persistentVolumeClaims, { namespace }),
  ]);
  return { pods: foundPods.items, claims: foundClaims.items };
}

const isOwnedBy = ({ metadata }: KubeObject, uid: string): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

const bodyOf = ({ metadata: { name, uid, deletionTimestamp } }: Stored<KubeObject>): Body => ({
  name,
  uid,
  isGoing: deletionTimestamp !== undefined,
});

const goneFor = ({ cluster }: Pick<RestoreIntent, 'cluster'>, { clusters }: RestoreTools): string =>
  `there is no ${clusters.dialect.kind} "${cluster}" in this namespace: create it, with the size and version it is to have`;

async function findCluster({ namespace, cluster: name }: RestoreIntent, tools: RestoreTools): Promise<Target | string> {
  const { dialect, resource } = tools.clusters;
  const object = await tools.client.get(resource, { namespace, name }).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind === 'not-found') return undefined;
    throw thrown;
  });
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return goneFor({ cluster: name }, tools);
  const read = dialect.read(object);
  if (!read.ok) return `${dialect.kind} "${name}" has a spec that makes no sense`;
  return { object, ...(await secured(read.value, tools)) };
}

/** A seed is the first of a new cluster: it speaks as the spec says, with the certificates that are kept for members. */
async function secured(read: ReadCluster, tools: RestoreTools): Promise<Pick<Target, 'read' | 'entry'>> {
  const planes = wantedPlanes(read.blueprint);
  const security = await lookAtSecurity(read, planes, tools);
  const blueprint = speaking(withKeys(read.blueprint, security), planes);
  return { read: { ...read, blueprint }, entry: security.entry };
}

interface Looking {
  readonly intent: RestoreIntent;
  readonly seed: string | undefined;
  readonly bodies: Bodies;
}

async function clusterOf(target: Target, { seed, bodies }: Looking, tools: RestoreTools): Promise<RestoredCluster> {
  const { object, read } = target;
  const { uid } = object.metadata;
  const old = <T extends KubeObject>(those: readonly Stored<T>[]): readonly Body[] =>
    those.filter((each) => isOwnedBy(each, uid) && each.metadata.name !== seed).map(bodyOf);
  const pod = bodies.pods.find(({ metadata }) => metadata.name === seed);
  return {
    heldBy: (object.status as { readonly heldBy?: string } | undefined)?.heldBy,
    holdAskedBy: object.metadata.annotations?.[tools.dialect.holdAnnotation],
    clusterId: read.memory.clusterId,
    version: read.blueprint.intent.version,
    isSettled: isSettled(object, read),
    oldPods: old(bodies.pods),
    oldClaims: old(bodies.claims),
    seed: pod && (await seedIn(pod, target, tools)),
  };
}

interface StatusSeen {
  readonly readyMembers?: number;
  readonly size?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function isSettled({ status }: ClusterObject, { blueprint: { intent } }: ReadCluster): boolean {
  const { readyMembers, size, conditions = [] } = (status ?? {}) as StatusSeen;
  const isQuiet = conditions.some((condition) => condition.type === 'Progressing' && condition.status === 'False');
  return isQuiet && readyMembers === intent.size && size === intent.size;
}

async function seedIn(pod: Stored<Pod>, target: Target, tools: RestoreTools): Promise<Seed> {
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return {
    ...bodyOf(pod),
    ...stateOfSeed(pod, isReady),
    isHandedOver: isOwnedBy(pod, target.object.metadata.uid),
    clusterId: isReady ? await clusterIdOf(pod, target, tools) : undefined,
  };
}

function stateOfSeed(pod: Stored<Pod>, isReady: boolean): Pick<Seed, 'state' | 'why'> {
  if (pod.metadata.deletionTimestamp !== undefined) return { state: 'stopping', why: 'it is being deleted' };
  if (isReady) return { state: 'ready', why: '' };
  const why = whyBroken(pod);
  return why === '' ? { state: 'starting', why: 'it is starting' } : { state: 'broken', why };
}

/** A container before the member that fails again and again, or what keeps the pod from being started at all. */
function whyBroken(pod: Stored<Pod>): string {
  const failing = (pod.status?.initContainerStatuses ?? []).find(({ restartCount }) => restartCount > 1);
  if (failing !== undefined) return `${failing.name} fails: ${lastWords(failing)}`;
  const state = stateOf(pod);
  return state.is === 'starting' ? state.why : '';
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['initContainerStatuses']>[number];

function lastWords({ lastState, state }: ContainerStatus): string {
  const end = lastState?.terminated ?? state?.terminated;
  return end?.message ?? end?.reason ?? 'it says nothing';
}

/** That it does not answer yet is nothing to complain of. */
async function clusterIdOf(
  pod: Stored<Pod>,
  { read, entry }: Target,
  tools: RestoreTools,
): Promise<string | undefined> {
  const endpoint = wayOf(pod, { ...endpointOf(pod, entry, read.blueprint), ...entry }, tools);
  const asked = tools.etcd.to(endpoint).status({ timeoutMillis: 2_000 });
  return asked.then(
    ({ clusterId }) => hexOf(clusterId),
    () => undefined,
  );
}

async function obstacleFor({ store, namespace }: RestoreIntent, tools: RestoreTools): Promise<string | undefined> {
  if (typeof tools.image === 'string') return tools.image;
  if (store.secret === undefined) return undefined;
  const isMissing = (await fetchSecret(store.secret, namespace, tools)) === 'missing';
  return isMissing ? `Secret "${store.secret}" is not there: create it in namespace "${namespace}"` : undefined;
}
