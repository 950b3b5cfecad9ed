import { cannotGrowAnnotation, storageOf } from '../../core/desired/claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { partsOf } from '../../dialects/quantity.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { claimsOf } from './claims-of.ts';
import type { Tools } from './sources.ts';
import type { Writer } from './writer.ts';

interface Keeping {
  readonly caches: Tools['caches'];
  readonly writer: Writer;
}

/**
 * Disks that are smaller than the spec says are asked to grow, which disturbs nobody. Where that is refused, because of
 * their class, it is noted on the claim: then another member, on a larger disk, has to take the place of this one.
 */
export async function growClaims(blueprint: Blueprint, { caches, writer }: Keeping): Promise<void> {
  const wanted = storageOf(blueprint.template);
  if (wanted === undefined) return;
  for (const claim of claimsOf(blueprint, caches).filter((each) => mayGrow(each, wanted, blueprint)))
    await grow(claim, wanted, { blueprint, writer });
}

function mayGrow({ metadata, spec }: Stored<PersistentVolumeClaim>, wanted: string, { naming }: Blueprint): boolean {
  const has = storageOf({ claim: spec });
  if (has === undefined || partsOf(has) >= partsOf(wanted)) return false;
  return metadata.deletionTimestamp === undefined && metadata.annotations?.[cannotGrowAnnotation(naming)] !== wanted;
}

interface Growing {
  readonly blueprint: Blueprint;
  readonly writer: Writer;
}

async function grow(
  { metadata }: Stored<PersistentVolumeClaim>,
  storage: string,
  { blueprint, writer }: Growing,
): Promise<void> {
  const at = { namespace: blueprint.intent.namespace, name: metadata.name };
  const { uid } = metadata;
  try {
    const body = { metadata: { uid }, spec: { resources: { requests: { storage } } } };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body });
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.kind !== 'rejected' && failure.kind !== 'forbidden') throw failure;
    const body = { metadata: { uid, annotations: { [cannotGrowAnnotation(blueprint.naming)]: storage } } };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body });
  }
}
