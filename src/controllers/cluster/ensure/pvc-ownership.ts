import { isDeepStrictEqual } from 'node:util';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { volumeRecordAnnotations, volumeRecordIn } from '../../../core/manifests/pvc.ts';
import { votersOf } from '../../../core/quorum.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import { type ControllerContext, ownerIndex } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import { inTurn } from '../failure-report.ts';
import { memberIn } from '../observe/member-pvc.ts';
import { ownClaimsOf } from '../observe/pvcs.ts';
import { ensureKeptPvcOwnership } from '../observe/removed-volumes.ts';

interface PvcContext {
  readonly caches: ControllerContext['caches'];
  readonly writer: Writer;
}

/**
 * Sets the owner of each PVC by the policy of the spec, so that the PVC is deleted or retained with its cluster.
 * Annotates the PVCs of joined members with cluster ID and voters, for a cluster that is recreated on them. A failure
 * does not stop the work on other PVCs.
 */
export async function ensurePvcOwnership(
  blueprint: Blueprint,
  world: ClusterWorld,
  context: PvcContext,
): Promise<void> {
  if (world.memory.clusterId === undefined) return;
  const claims = ownClaimsOf(blueprint, world, context.caches).filter(({ metadata }) => !metadata.deletionTimestamp);
  const keepMembers = (): Promise<void> =>
    inTurn(claims, (claim) => keepClaim(claim, { blueprint, world }, context.writer));
  await inTurn([keepMembers, () => ensureKeptPvcOwnership(blueprint, context)], (keep) => keep());
}

/**
 * Removes the ownerReference from the PVCs of a paused cluster with the policy Retain, which may be deleted before it
 * is resumed. No ownerReference is added during a pause, because a user may have removed it. PVCs are not changed
 * during a restore.
 */
export async function releasePvcs(
  { intent, volumesOutlive }: Blueprint,
  { caches, writer }: PvcContext,
): Promise<void> {
  if (!volumesOutlive || intent.heldBy !== undefined) return;
  await inTurn(caches.claims.by(ownerIndex, intent.namespace, intent.uid), ({ metadata }) => {
    const { uid, resourceVersion, namespace, name, ownerReferences = [] } = metadata;
    const others = ownerReferences.filter((owner) => owner.uid !== intent.uid);
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } };
    return writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
  });
}

interface Target {
  readonly blueprint: Blueprint;
  readonly world: ClusterWorld;
}

async function keepClaim(claim: Stored<PersistentVolumeClaim>, target: Target, writer: Writer): Promise<void> {
  const { uid, namespace, name, annotations = {}, ownerReferences = [] } = claim.metadata;
  const wanted = annotationsFor(memberIn(claim), target);
  if (namesAnotherCluster(annotations, target) && Object.keys(wanted).length === 0) return;
  const owners = target.blueprint.volumesOutlive ? [] : [target.blueprint.owner];
  const areAnnotated = Object.entries(wanted).every(([annotation, text]) => annotations[annotation] === text);
  if (areAnnotated && isDeepStrictEqual(ownerReferences, owners)) return;
  const body = { metadata: { uid, annotations: wanted, ownerReferences: owners } };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
}

/**
 * True if the PVC names another cluster. If its member does not answer, the PVC may belong there, and gets no owner.
 */
const namesAnotherCluster = (annotations: Readonly<Record<string, string>>, { blueprint, world }: Target): boolean =>
  (volumeRecordIn(annotations, blueprint.naming)?.clusterId ?? world.memory.clusterId) !== world.memory.clusterId;

function annotationsFor(
  name: string,
  { blueprint, world: { membership, memory } }: Target,
): Readonly<Record<string, string>> {
  if (!membership.seen || memory.clusterId !== membership.value.clusterId) return {};
  const { members, clusterId } = membership.value;
  const hasJoined = members.some((member) => member.name === name && member.health === 'healthy');
  const voters = votersOf(members)
    .map((voter) => voter.name)
    .toSorted();
  return hasJoined ? volumeRecordAnnotations({ clusterId, members: voters }, blueprint.naming) : {};
}
