import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { LiveClaim, MemberObject, UnreadObject } from '../../../core/cluster/model/live-objects.ts';
import { isOwnVolume } from '../../../core/cluster/plan/upkeep/labels.ts';
import { upkeepScope } from '../../../core/cluster/plan/upkeep/plan-upkeep.ts';
import type { LiveObjects } from '../../../core/cluster/plan/upkeep/world.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { storageOf } from '../../../core/manifests/pvc.ts';
import { type KubeObject, keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import type { Store } from '../../../runtime/store.ts';
import { Failure } from '../../../std/failure.ts';
import { nanosOf } from '../../../std/quantity.ts';
import { type ControllerContext, ownerIndex } from '../../shared/context.ts';
import { getLive } from '../act/step-context.ts';
import { memberIn } from '../observe/member-pvc.ts';
import { claimNameOf, isForeign, memberNameOf } from '../observe/members.ts';
import { claimsOf, ownClaimsOf } from '../observe/pvcs.ts';
import { keptClaimsOf } from '../observe/removed-volumes.ts';
import { livePeers, type PeerContext } from './peers.ts';

interface Around {
  readonly read: Pick<ReadCluster, 'blueprint'>;
  readonly world: ClusterWorld;
  readonly peers: PeerContext | undefined;
}

const none: LiveObjects = {
  services: [],
  budgets: undefined,
  peers: undefined,
  claims: [],
  keptClaims: [],
  ownedClaims: [],
  memberObjects: [],
};

/**
 * The objects around members, as the caches show them. A PVC that a pod mounts and no cache shows has lost its labels,
 * and is read from the API server.
 */
export async function observeLiveObjects(
  { read: { blueprint }, world, peers }: Around,
  context: ControllerContext,
): Promise<LiveObjects> {
  const { caches } = context;
  const { namespace, name, uid } = blueprint.intent;
  const scope = upkeepScope(world);
  if (scope === 'none') return none;
  if (scope === 'release') return { ...none, ownedClaims: caches.claims.by(ownerIndex, namespace, uid) };
  const { peerService, clientService } = blueprint.naming;
  const namedIn = <T extends KubeObject>(store: Store<T>, names: readonly string[]): readonly Stored<T>[] =>
    names.flatMap((each) => store.get(keyOf({ namespace, name: each })) ?? []);
  return {
    ...none,
    services: namedIn(caches.services, [peerService, clientService]),
    budgets: caches.budgets && namedIn(caches.budgets, [name]),
    peers: livePeers(world, peers),
    claims: ownClaimsOf(blueprint, world, caches).map((claim) => liveClaim(claim, blueprint)),
    keptClaims: keptClaimsOf(blueprint, context),
    memberObjects: await memberObjectsOf(blueprint, world, context),
  };
}

type Claim = Stored<PersistentVolumeClaim>;

function liveClaim(claim: Claim, { template }: Blueprint): LiveClaim {
  const [has, wanted] = [storageOf({ claim: claim.spec }), storageOf(template)];
  const { phase } = claim.status ?? {};
  const isTooSmall = has !== undefined && wanted !== undefined && nanosOf(has) < nanosOf(wanted);
  return { object: claim, hasVolume: phase !== 'Pending' && phase !== 'Lost', isTooSmall };
}

async function memberObjectsOf(
  blueprint: Blueprint,
  world: ClusterWorld,
  controller: ControllerContext,
): Promise<LiveObjects['memberObjects']> {
  const { caches } = controller;
  const own = caches.pods
    .by(ownerIndex, blueprint.intent.namespace, blueprint.intent.uid)
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && !isForeign(pod, blueprint));
  const claims = claimsOf(blueprint, caches);
  const mounted = own
    .flatMap((pod) => claimNameOf(pod) ?? [])
    .map(async (name) => {
      const claim = claims.find(({ metadata }) => metadata.name === name);
      return claim === undefined ? readUncached(name, { blueprint, world, controller }) : [pvcObject(claim)];
    });
  return [...own.map(podObject), ...(await Promise.all(mounted)).flat()];
}

export const podObject = (pod: Stored<Pod>): MemberObject => ({ of: 'Pod', object: pod, member: memberNameOf(pod) });

export const pvcObject = (claim: Claim): MemberObject => ({
  of: 'PersistentVolumeClaim',
  object: claim,
  member: memberIn(claim),
});

interface Uncached {
  readonly blueprint: Blueprint;
  readonly world: ClusterWorld;
  readonly controller: ControllerContext;
}

/** A PVC of this cluster that the cache does not show. */
async function readUncached(
  name: string,
  { blueprint, world, controller }: Uncached,
): Promise<readonly (MemberObject | UnreadObject)[]> {
  try {
    const signal = AbortSignal.timeout(30_000);
    const claim = await getLive(persistentVolumeClaims, name, { blueprint, controller, signal });
    return claim !== undefined && isOwnVolume(claim, blueprint, world.memory) ? [pvcObject(claim)] : [];
  } catch (thrown) {
    return [{ unread: Failure.from(thrown) }];
  }
}
