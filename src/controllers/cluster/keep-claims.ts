import { isDeepStrictEqual } from 'node:util';
import { markedWith, markIn } from '../../core/desired/claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { votersOf } from '../../core/quorum.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { ownClaimsOf } from './claims-of.ts';
import { ownKeptClaims } from './kept-volumes.ts';
import { memberIn } from './member-claim.ts';
import { ownerIndex, type Tools } from './sources.ts';
import { inTurn } from './trouble.ts';
import type { Writer } from './writer.ts';

interface Keeping {
  readonly caches: Tools['caches'];
  readonly writer: Writer;
}

/**
 * Sets the owner of each PVC as the spec says by now, so that the PVC is deleted or stays with its cluster. Notes on the PVCs
 * of members that have joined which cluster they are of, for a cluster that is created again on them. A PVC that cannot be
 * written keeps no other from it.
 */
export async function keepClaims(blueprint: Blueprint, world: ClusterWorld, keeping: Keeping): Promise<void> {
  if (world.memory.clusterId === undefined) return;
  const claims = ownClaimsOf(blueprint, world, keeping.caches).filter(({ metadata }) => !metadata.deletionTimestamp);
  const keepMembers = (): Promise<void> =>
    inTurn(claims, (claim) => keepClaim(claim, { blueprint, world }, keeping.writer));
  await inTurn([keepMembers, () => ownKeptClaims(blueprint, keeping)], (keep) => keep());
}

/**
 * Whoever pauses a cluster may have taken its disks from it by hand, so none becomes its own meanwhile. But where the spec says
 * that they stay, they are let go of: it may be deleted before it goes on. What a restore does with them is not disturbed.
 */
export async function freeClaims({ intent, disksOutlive }: Blueprint, { caches, writer }: Keeping): Promise<void> {
  if (!disksOutlive || intent.heldBy !== undefined) return;
  await inTurn(caches.claims.by(ownerIndex, intent.namespace, intent.uid), ({ metadata }) => {
    const { uid, resourceVersion, namespace, name, ownerReferences = [] } = metadata;
    const others = ownerReferences.filter((owner) => owner.uid !== intent.uid);
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } };
    return writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
  });
}

interface Kept {
  readonly blueprint: Blueprint;
  readonly world: ClusterWorld;
}

async function keepClaim(claim: Stored<PersistentVolumeClaim>, kept: Kept, writer: Writer): Promise<void> {
  const { uid, namespace, name, annotations = {}, ownerReferences = [] } = claim.metadata;
  const said = marksFor(memberIn(claim), kept);
  if (isOfAnother(annotations, kept) && Object.keys(said).length === 0) return;
  const owners = kept.blueprint.disksOutlive ? [] : [kept.blueprint.owner];
  const isSaid = Object.entries(said).every(([annotation, text]) => annotations[annotation] === text);
  if (isSaid && isDeepStrictEqual(ownerReferences, owners)) return;
  const body = { metadata: { uid, annotations: said, ownerReferences: owners } };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
}

/** Under the name of a voter that does not answer, it may still be what it says: then it goes with nobody. */
const isOfAnother = (annotations: Readonly<Record<string, string>>, { blueprint, world }: Kept): boolean =>
  (markIn(annotations, blueprint.naming)?.clusterId ?? world.memory.clusterId) !== world.memory.clusterId;

function marksFor(name: string, { blueprint, world: { membership, memory } }: Kept): Readonly<Record<string, string>> {
  if (!membership.seen || memory.clusterId !== membership.value.clusterId) return {};
  const { members, clusterId } = membership.value;
  const hasJoined = members.some((member) => member.name === name && member.health === 'healthy');
  const voters = votersOf(members)
    .map((voter) => voter.name)
    .toSorted();
  return hasJoined ? markedWith({ clusterId, members: voters }, blueprint.naming) : {};
}
