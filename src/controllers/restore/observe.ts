import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { Agent } from '../../core/backup/agent.ts';
import { freeOrdinals } from '../../core/cluster/model/ordinals.ts';
import { memberOfClaim } from '../../core/cluster/model/pvc-names.ts';
import type { RestoreIntent, RestoreWorld } from '../../core/restore/model.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { refusalToReadPvc } from '../backup/member-claims.ts';
import type { PodsAndPvcs } from '../cluster/observe/members.ts';
import { agentOf } from '../shared/agent-pods.ts';
import { type ClusterObject, ownerIndex } from '../shared/context.ts';
import { fetchSecret } from '../shared/secret-reader.ts';
import { storeAccess } from '../shared/store-access.ts';
import { templateFor } from './cluster-template.ts';
import type { RestoreContext } from './context.ts';
import { restoreFinalizer } from './finalizer.ts';
import { nameConflictFor } from './name-conflicts.ts';
import { objectRef, podsAndPvcsIn, terminatingRef } from './pods-and-pvcs.ts';
import { clusterOf } from './restored-cluster.ts';
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
      certificates: certificatesOf(intent, target),
      obstacle: proof === undefined ? await obstacleFor(intent, target, context) : undefined,
    },
  };
}

/** Only for new clusters: the cluster controller does it for existing ones. */
function certificatesOf({ into }: RestoreIntent, target: Target | undefined): RestoreWorld['certificates'] {
  if (into !== 'new' || target?.read.managedCertificates === undefined) return undefined;
  const { certificates } = target;
  if (certificates === undefined) return 'not owned';
  return { due: certificates.due, isStaged: certificates.kept.stored !== undefined };
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
