import { cannotGrowAnnotation, storageOf } from '../../core/desired/claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { partsOf } from '../../dialects/quantity.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { ownClaimsOf } from './claims-of.ts';
import type { Tools } from './sources.ts';
import type { Writer } from './writer.ts';

interface Keeping {
  readonly caches: Tools['caches'];
  readonly writer: Writer;
}

/**
 * PVCs that are smaller than the spec says are asked to grow, while their members run. Where a volume can never grow, because of
 * its class, that is noted on the PVC: then another member, on a larger volume, takes the place of this one. Any other refusal
 * (a quota, a LimitRange, a policy) is reported, and the PVC is asked again later.
 */
export async function growClaims(
  blueprint: Blueprint,
  world: ClusterWorld,
  { caches, writer }: Keeping,
): Promise<void> {
  const wanted = storageOf(blueprint.template);
  if (wanted === undefined || world.memory.doubt !== undefined) return; // whose they are is for somebody to say
  const refusals: Failure[] = [];
  for (const claim of ownClaimsOf(blueprint, world, caches).filter((each) => mayGrow(each, wanted, blueprint)))
    refusals.push(...(await grow(claim, wanted, { blueprint, writer })));
  if (refusals[0] !== undefined) throw refusals[0];
}

/** Only PVCs that have their volume can be changed. */
function mayGrow(claim: Stored<PersistentVolumeClaim>, wanted: string, { naming }: Blueprint): boolean {
  const { metadata, spec, status } = claim;
  const has = storageOf({ claim: spec });
  if (has === undefined || hasNoVolume(status?.phase) || partsOf(has) >= partsOf(wanted)) return false;
  return metadata.deletionTimestamp === undefined && metadata.annotations?.[cannotGrowAnnotation(naming)] !== wanted;
}

const hasNoVolume = (phase: string | undefined): boolean => phase === 'Pending' || phase === 'Lost';

interface Growing {
  readonly blueprint: Blueprint;
  readonly writer: Writer;
}

/** Gives back a refusal that is not for good. */
async function grow(
  { metadata }: Stored<PersistentVolumeClaim>,
  storage: string,
  { blueprint, writer }: Growing,
): Promise<readonly Failure[]> {
  const at = { namespace: blueprint.intent.namespace, name: metadata.name };
  const { uid } = metadata;
  const annotations = { [cannotGrowAnnotation(blueprint.naming)]: storage };
  try {
    const body = { metadata: { uid }, spec: { resources: { requests: { storage } } } };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body });
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (isRefusal(failure) && !isForGood(failure)) return [failure];
    if (!isForGood(failure)) throw failure;
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata: { uid, annotations } } });
  }
  return [];
}

const isRefusal = ({ kind }: Failure): boolean => kind === 'forbidden' || kind === 'rejected';

/**
 * What the admission plugin PersistentVolumeClaimResize says where the StorageClass is missing or has no `allowVolumeExpansion`.
 * All else may be otherwise tomorrow, and a quota that has no room for more has none for another volume beside this one either.
 */
const isForGood = ({ kind, message }: Failure): boolean =>
  kind === 'forbidden' && message.includes('only dynamically provisioned pvc can be resized');
