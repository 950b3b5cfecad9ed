import { isDeepEqual } from '../../../../std/deep-equal.ts';
import { volumeRecordAnnotations, volumeRecordIn } from '../../../manifests/pvc.ts';
import { ownersOf } from '../../../manifests/removed-pvc.ts';
import { votersOf } from '../../../quorum.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import { memberOfClaim } from '../../model/pvc-names.ts';
import type { UpkeepStep } from './step.ts';
import type { UpkeepRule, UpkeepWorld } from './world.ts';

/**
 * Sets the owner of each PVC by the policy of the spec, so that the PVC is deleted or retained with its cluster.
 * Annotates the PVCs of joined members with cluster ID and voters, for a cluster that is recreated on them.
 */
export const keepPvcOwners: UpkeepRule = (world) => {
  if (world.memory.clusterId === undefined) return [];
  const { claims, keptClaims } = world.live;
  return [
    ...claims.flatMap(({ object }) => (isLeaving(object) ? [] : own(object, world))),
    ...keptClaims.flatMap((claim) => (isLeaving(claim) ? [] : ownKept(claim, world))),
  ];
};

/**
 * Removes the ownerReference from the PVCs of a paused cluster with the policy Retain, which may be deleted before it
 * is resumed. No ownerReference is added during a pause, because a user may have removed it. PVCs are not changed
 * during a restore.
 */
export const releasePvcs: UpkeepRule = ({ blueprint: { intent, volumesOutlive }, live }) => {
  if (!volumesOutlive || intent.heldBy !== undefined) return [];
  return live.ownedClaims.map(({ metadata }) => {
    const { name, uid, resourceVersion, ownerReferences = [] } = metadata;
    const others = ownerReferences.filter((owner) => owner.uid !== intent.uid);
    const why = `PersistentVolumeClaim ${name} is to outlive the cluster`;
    return { kind: 'own-volume', claim: name, metadata: { uid, resourceVersion, ownerReferences: others }, why };
  });
};

const isLeaving = ({ metadata }: LiveObject): boolean => metadata.deletionTimestamp !== undefined;

function own({ metadata }: LiveObject, world: UpkeepWorld): readonly UpkeepStep[] {
  const { name, uid, annotations: existing = {}, ownerReferences: owners = [] } = metadata;
  const annotations = recordFor(memberOfClaim(name), world);
  if (namesAnotherCluster(existing, world) && Object.keys(annotations).length === 0) return [];
  const ownerReferences = ownersOf(world.blueprint);
  const isRecorded = Object.entries(annotations).every(([annotation, text]) => existing[annotation] === text);
  if (isRecorded && isDeepEqual(owners, ownerReferences)) return [];
  const why = `PersistentVolumeClaim ${name} has another ${isRecorded ? 'owner' : 'record'} than its cluster asks for`;
  return [{ kind: 'own-volume', claim: name, metadata: { uid, annotations, ownerReferences }, why }];
}

/** PVCs of removed members are owned as those of members, so that they are deleted or retained with the cluster. */
function ownKept({ metadata }: LiveObject, { blueprint }: UpkeepWorld): readonly UpkeepStep[] {
  const { name, uid, resourceVersion, ownerReferences: owners = [] } = metadata;
  const ownerReferences = ownersOf(blueprint);
  if (isDeepEqual(owners, ownerReferences)) return [];
  const why = `PersistentVolumeClaim ${name} of a removed member has another owner than its cluster asks for`;
  return [{ kind: 'own-volume', claim: name, metadata: { uid, resourceVersion, ownerReferences }, why }];
}

/**
 * True if the PVC names another cluster. If its member does not answer, the PVC may belong there, and gets no owner.
 */
const namesAnotherCluster = (annotations: Readonly<Record<string, string>>, { blueprint, memory }: UpkeepWorld) =>
  (volumeRecordIn(annotations, blueprint.naming)?.clusterId ?? memory.clusterId) !== memory.clusterId;

function recordFor(name: string, { blueprint, membership, memory }: UpkeepWorld): Readonly<Record<string, string>> {
  if (!membership.seen || memory.clusterId !== membership.value.clusterId) return {};
  const { members, clusterId } = membership.value;
  const hasJoined = members.some((member) => member.name === name && member.health === 'healthy');
  const voters = votersOf(members)
    .map((voter) => voter.name)
    .toSorted();
  return hasJoined ? volumeRecordAnnotations({ clusterId, members: voters }, blueprint.naming) : {};
}
