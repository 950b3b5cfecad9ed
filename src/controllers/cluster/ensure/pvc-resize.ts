import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { cannotGrowAnnotation, storageOf } from '../../../core/manifests/pvc.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { nanosOf } from '../../../std/quantity.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import { ownClaimsOf } from '../observe/pvcs.ts';

interface ResizeContext {
  readonly caches: ControllerContext['caches'];
  readonly writer: Writer;
}

/**
 * Raises the storage request of PVCs that are smaller than the spec, while their members run. If the StorageClass
 * allows no expansion, the PVC is annotated, and its member is replaced on a larger volume. Any other refusal (a quota,
 * a LimitRange, a policy) is reported and retried.
 */
export async function resizePvcs(
  blueprint: Blueprint,
  world: ClusterWorld,
  { caches, writer }: ResizeContext,
): Promise<void> {
  const wanted = storageOf(blueprint.template);
  // the user has to decide which cluster owns the PVCs
  if (wanted === undefined || world.memory.ambiguity !== undefined) return;
  const refusals: Failure[] = [];
  for (const claim of ownClaimsOf(blueprint, world, caches).filter((each) => mayGrow(each, wanted, blueprint)))
    refusals.push(...(await grow(claim, wanted, { blueprint, writer })));
  if (refusals[0] !== undefined) throw refusals[0];
}

/** Only bound PVCs can be resized. */
function mayGrow(claim: Stored<PersistentVolumeClaim>, wanted: string, { naming }: Blueprint): boolean {
  const { metadata, spec, status } = claim;
  const has = storageOf({ claim: spec });
  if (has === undefined || hasNoVolume(status?.phase) || nanosOf(has) >= nanosOf(wanted)) return false;
  return metadata.deletionTimestamp === undefined && metadata.annotations?.[cannotGrowAnnotation(naming)] !== wanted;
}

const hasNoVolume = (phase: string | undefined): boolean => phase === 'Pending' || phase === 'Lost';

interface Resizing {
  readonly blueprint: Blueprint;
  readonly writer: Writer;
}

/** Returns a refusal that may be temporary. */
async function grow(
  { metadata }: Stored<PersistentVolumeClaim>,
  storage: string,
  { blueprint, writer }: Resizing,
): Promise<readonly Failure[]> {
  const at = { namespace: blueprint.intent.namespace, name: metadata.name };
  const { uid } = metadata;
  const annotations = { [cannotGrowAnnotation(blueprint.naming)]: storage };
  try {
    const body = { metadata: { uid }, spec: { resources: { requests: { storage } } } };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body });
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (isRefusal(failure) && !isPermanent(failure)) return [failure];
    if (!isPermanent(failure)) throw failure;
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata: { uid, annotations } } });
  }
  return [];
}

const isRefusal = ({ kind }: Failure): boolean => kind === 'forbidden' || kind === 'rejected';

/**
 * The error of the admission plugin PersistentVolumeClaimResize if the StorageClass is missing or lacks
 * `allowVolumeExpansion`. All other refusals may be temporary. A quota without room for a larger PVC has no room for a
 * second PVC either.
 */
const isPermanent = ({ kind, message }: Failure): boolean =>
  kind === 'forbidden' && message.includes('only dynamically provisioned pvc can be resized');
