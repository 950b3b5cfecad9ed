import { claimAnnotation, markIn } from '../../core/desired/claim.ts';
import { isKept } from '../../core/desired/kept-claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { mostClaims } from '../../core/model/claim-names.ts';
import { type ClusterWorld, hasHistory, isOurs, type Keeper, type Memory } from '../../core/model/cluster.ts';
import { type FoundDisk, isStrangers, recalled } from '../../core/model/kept-disks.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { isNumberedName } from '../../core/model/ordinals.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { type Bodies, isForeign, nameOfBody } from './carriers.ts';
import { withoutKept } from './kept-volumes.ts';
import { memberIn } from './member-claim.ts';
import { type Caches, clusterIndex, ownerIndex } from './sources.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** The PVCs of a cluster: those that it owns, and PVCs with members' names that have no owner, since its policy may have been Retain. */
export function claimsOf(blueprint: Blueprint, { claims }: Pick<Caches, 'claims'>): readonly Claim[] {
  const { intent } = blueprint;
  const owned = withoutKept(claims.by(ownerIndex, intent.namespace, intent.uid), blueprint);
  const unowned = claims.by(clusterIndex, intent.namespace, intent.name).filter((claim) => isUnowned(claim));
  return [...owned, ...withoutKept(unowned, blueprint).filter((claim) => isForMember(claim, blueprint))];
}

const isUnowned = ({ metadata }: Claim): boolean => !metadata.ownerReferences?.length;

/** Others may have reasons of their own to put the cluster's labels on a claim. */
function isForMember(claim: Claim, { intent, naming }: Blueprint): boolean {
  const member = memberIn(claim);
  const isNamed = claim.metadata.labels?.[naming.memberLabel] === member;
  return isNamed && (intent.memberNames === 'random' || isNumberedName(intent.name, member));
}

/** All under its name that are not about to go, whosever they are: their names are taken. Those of removed members are not. */
export function allClaimsOf(blueprint: Blueprint, caches: Pick<Caches, 'claims'>): Bodies['claims'] {
  const own = claimsOf(blueprint, caches);
  const { namespace, name } = blueprint.intent;
  const all = caches.claims.by(clusterIndex, namespace, name);
  const inTheWay = all.filter((claim) => !own.includes(claim) && !leavesNameFree(claim, all, blueprint));
  /** A restore has set it aside. */
  const isAside = ({ metadata: { ownerReferences = [] } }: Claim): boolean =>
    ownerReferences.some(({ kind }) => kind !== blueprint.owner.kind);
  return [
    ...own,
    ...inTheWay.filter((claim) => isUnowned(claim) || isAside(claim) || isKept(claim.metadata, blueprint.naming)),
  ];
}

/** Beside the volume of a removed member another of the same name gets its own, unless there are too many of them. */
const leavesNameFree = (claim: Claim, all: readonly Claim[], { naming }: Blueprint): boolean =>
  isKept(claim.metadata, naming) && all.filter((each) => memberIn(each) === memberIn(claim)).length < mostClaims;

const diskOn = (claim: Claim, { naming }: Pick<Blueprint, 'naming'>): FoundDisk => {
  const { annotations = {} } = claim.metadata;
  const wasMadeByUs = annotations[claimAnnotation(naming)] !== undefined;
  return { name: memberIn(claim), mark: markIn(annotations, naming), isOurs: wasMadeByUs };
};

/** Whether a claim under a member's name never was this cluster's. What a cluster owns was. */
export const isStrangersClaim = (claim: Claim, blueprint: Blueprint, memory: Pick<Memory, 'clusterId' | 'voters'>) =>
  isUnowned(claim) && isStrangers(diskOn(claim, blueprint), memory);

/** The claims of a cluster, apart from those that never were. */
export const ownClaimsOf = (
  blueprint: Blueprint,
  { strangeDisks = [] }: Pick<ClusterWorld, 'strangeDisks'>,
  caches: Pick<Caches, 'claims'>,
): Bodies['claims'] =>
  claimsOf(blueprint, caches).filter(({ metadata }) => !(strangeDisks as readonly string[]).includes(metadata.name));

/** What a pass starts from: what is remembered, or can be learned from disks; and disks from which nothing can be learned. */
export interface Recollection extends Bodies {
  readonly memory: Memory;
  readonly leftDisks: readonly CarrierName[];
  readonly strangeDisks: readonly CarrierName[];
  /** Claims without a volume behind them, and so without data, or about to go with it: whoever founds may have their names. */
  readonly unused: readonly Claim[];
}

/** `keepers`: those who make pods of the cluster for somebody else. */
export function recollect(read: ReadCluster, { pods, claims }: Bodies, keepers: readonly Keeper[] = []): Recollection {
  const { blueprint, memory: known } = read;
  const none = { leftDisks: [], strangeDisks: [], unused: [] };
  const memory = recalled(known, disksToGoBy(read, { pods, claims }, keepers));
  if (!hasHistory(memory) && pods.length === 0) {
    const unused = claims.filter((claim) => isLeaving(claim) || claim.status?.phase === 'Pending');
    const left = claims.filter((claim) => !unused.includes(claim));
    return { ...none, memory, pods, claims: [], leftDisks: [...new Set(left.map(memberIn))], unused };
  }
  const named = new Set<string>(pods.map(nameOfBody));
  const strange = claims.filter((claim) => !named.has(memberIn(claim)) && isStrangersClaim(claim, blueprint, memory));
  const own = claims.filter((claim) => !strange.includes(claim));
  return { ...none, memory, pods, claims: own, strangeDisks: namesOf(strange) };
}

/**
 * What we once wrote on its disks makes nobody ours whom another operator has had since, and who has to be taken over. And
 * what somebody has deleted is not to be gone on with, although a pod that ends may hold it for a while.
 */
function disksToGoBy(
  { blueprint, memory }: ReadCluster,
  { pods, claims }: Bodies,
  keepers: readonly Keeper[],
): readonly FoundDisk[] {
  const disks = (those: Bodies['claims']) => those.map((claim) => diskOn(claim, blueprint));
  if (isOurs(memory)) return disks(claims);
  const isOthers = keepers.length > 0 || pods.some((pod) => isForeign(pod, blueprint));
  return isOthers ? [] : disks(claims.filter((claim) => !isLeaving(claim)));
}

const isLeaving = ({ metadata }: Claim): boolean => metadata.deletionTimestamp !== undefined;

const namesOf = (claims: readonly Claim[]): readonly CarrierName[] =>
  claims.map(({ metadata }) => metadata.name as CarrierName);
