import type { ReadCluster } from '../../../apis/common/dialect.ts';
import {
  type ClusterWorld,
  hasHistory,
  isOurs,
  type LegacyReplicaSet,
  type Memory,
} from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { isNumberedName } from '../../../core/cluster/model/ordinals.ts';
import { mostClaims } from '../../../core/cluster/model/pvc-names.ts';
import { belongsToAnother, type FoundVolume, memoryFromVolumes } from '../../../core/cluster/model/retained-pvcs.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { claimAnnotation, volumeRecordIn } from '../../../core/manifests/pvc.ts';
import { isOfRemovedMember } from '../../../core/manifests/removed-pvc.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { type Caches, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { memberIn } from './member-pvc.ts';
import { isForeign, memberNameOf, type PodsAndPvcs } from './members.ts';
import { withoutKept } from './removed-volumes.ts';

type Claim = Stored<PersistentVolumeClaim>;

/**
 * The PVCs of a cluster: PVCs that it owns, and PVCs with names of members and without an owner (volumeClaimPolicy
 * Retain).
 */
export function claimsOf(blueprint: Blueprint, { claims }: Pick<Caches, 'claims'>): readonly Claim[] {
  const { intent } = blueprint;
  const owned = withoutKept(claims.by(ownerIndex, intent.namespace, intent.uid), blueprint);
  const unowned = claims.by(clusterIndex, intent.namespace, intent.name).filter((claim) => isUnowned(claim));
  return [...owned, ...withoutKept(unowned, blueprint).filter((claim) => isForMember(claim, blueprint))];
}

const isUnowned = ({ metadata }: Claim): boolean => !metadata.ownerReferences?.length;

/** True if name and labels of a PVC are those of a member. Users may label other PVCs with the cluster's labels. */
function isForMember(claim: Claim, { intent, naming }: Blueprint): boolean {
  const member = memberIn(claim);
  const isNamed = claim.metadata.labels?.[naming.memberLabel] === member;
  return isNamed && (intent.memberNames === 'random' || isNumberedName(intent.name, member));
}

/** All PVCs whose member names are used, also those of other owners. PVCs of removed members leave their names free. */
export function allClaimsOf(blueprint: Blueprint, caches: Pick<Caches, 'claims'>): PodsAndPvcs['claims'] {
  const own = claimsOf(blueprint, caches);
  const { namespace, name } = blueprint.intent;
  const all = caches.claims.by(clusterIndex, namespace, name);
  const others = all.filter((claim) => !own.includes(claim) && !leavesNameFree(claim, all, blueprint));
  /** True if a restore has set the PVC aside. */
  const isAside = ({ metadata: { ownerReferences = [] } }: Claim): boolean =>
    ownerReferences.some(({ kind }) => kind !== blueprint.owner.kind);
  return [
    ...own,
    ...others.filter(
      (claim) => isUnowned(claim) || isAside(claim) || isOfRemovedMember(claim.metadata, blueprint.naming),
    ),
  ];
}

/** A new member may reuse the name of a removed member, with another PVC, until too many PVCs of that name are kept. */
const leavesNameFree = (claim: Claim, all: readonly Claim[], { naming }: Blueprint): boolean =>
  isOfRemovedMember(claim.metadata, naming) &&
  all.filter((each) => memberIn(each) === memberIn(claim)).length < mostClaims;

const volumeOn = (claim: Claim, { naming }: Pick<Blueprint, 'naming'>): FoundVolume => {
  const { annotations = {} } = claim.metadata;
  const wasMadeByUs = annotations[claimAnnotation(naming)] !== undefined;
  return { name: memberIn(claim), record: volumeRecordIn(annotations, naming), isOurs: wasMadeByUs };
};

/** True if a PVC with a member's name belongs to another cluster. PVCs with our ownerReference are ours. */
export const isForeignPvc = (claim: Claim, blueprint: Blueprint, memory: Pick<Memory, 'clusterId' | 'voters'>) =>
  isUnowned(claim) && belongsToAnother(volumeOn(claim, blueprint), memory);

/** The PVCs of a cluster, without foreign PVCs. */
export const ownClaimsOf = (
  blueprint: Blueprint,
  { foreignVolumes = [] }: Pick<ClusterWorld, 'foreignVolumes'>,
  caches: Pick<Caches, 'claims'>,
): PodsAndPvcs['claims'] =>
  claimsOf(blueprint, caches).filter(({ metadata }) => !(foreignVolumes as readonly string[]).includes(metadata.name));

/** The memory of the cluster, from its status or from its PVCs, and PVCs that add nothing to the memory. */
export interface Recalled extends PodsAndPvcs {
  readonly memory: Memory;
  readonly retainedVolumes: readonly MemberName[];
  readonly foreignVolumes: readonly MemberName[];
  /** PVCs without data: without a volume, or being deleted. Bootstrap members may use their names. */
  readonly unused: readonly Claim[];
}

/** `legacyReplicaSets`: the ReplicaSets of the original operator that still make pods of the cluster. */
export function recallFromPvcs(
  read: ReadCluster,
  { pods, claims }: PodsAndPvcs,
  legacyReplicaSets: readonly LegacyReplicaSet[] = [],
): Recalled {
  const { blueprint, memory: known } = read;
  const none = { retainedVolumes: [], foreignVolumes: [], unused: [] };
  const memory = memoryFromVolumes(known, volumesToRecall(read, { pods, claims }, legacyReplicaSets));
  if (!hasHistory(memory) && pods.length === 0) {
    const unused = claims.filter((claim) => isLeaving(claim) || claim.status?.phase === 'Pending');
    const left = claims.filter((claim) => !unused.includes(claim));
    return { ...none, memory, pods, claims: [], retainedVolumes: [...new Set(left.map(memberIn))], unused };
  }
  const named = new Set<string>(pods.map(memberNameOf));
  const foreign = claims.filter((claim) => !named.has(memberIn(claim)) && isForeignPvc(claim, blueprint, memory));
  const own = claims.filter((claim) => !foreign.includes(claim));
  return { ...none, memory, pods, claims: own, foreignVolumes: namesOf(foreign) };
}

/**
 * The volumes that memory is recalled from. If another operator runs the cluster by now, the cluster must be adopted,
 * so PVC annotations do not count. Nor do deleted PVCs, which a terminating pod may hold for a while.
 */
function volumesToRecall(
  { blueprint, memory }: ReadCluster,
  { pods, claims }: PodsAndPvcs,
  legacyReplicaSets: readonly LegacyReplicaSet[],
): readonly FoundVolume[] {
  const volumes = (those: PodsAndPvcs['claims']) => those.map((claim) => volumeOn(claim, blueprint));
  if (isOurs(memory)) return volumes(claims);
  const isOthers = legacyReplicaSets.length > 0 || pods.some((pod) => isForeign(pod, blueprint));
  return isOthers ? [] : volumes(claims.filter((claim) => !isLeaving(claim)));
}

const isLeaving = ({ metadata }: Claim): boolean => metadata.deletionTimestamp !== undefined;

const namesOf = (claims: readonly Claim[]): readonly MemberName[] =>
  claims.map(({ metadata }) => metadata.name as MemberName);
