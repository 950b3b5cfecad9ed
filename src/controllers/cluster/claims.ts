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
 * Disks that are smaller than the spec says are asked to grow, which disturbs nobody. Where that is refused, because of
 * their class, it is noted on the claim: then another member, on a larger disk, has to take the place of this one.
 */
export async function growClaims(
  blueprint: Blueprint,
  world: ClusterWorld,
  { caches, writer }: Keeping,
): Promise<void> {
  const wanted = storageOf(blueprint.template);
  if (wanted === undefined || world.memory.doubt !== undefined) return; // whose they are is for somebody to say
  for (const claim of ownClaimsOf(blueprint, world, caches).filter((each) => mayGrow(each, wanted, blueprint)))
    await grow(claim, wanted, { blueprint, writer });
}

/** A claim that waits for its volume may not be changed. That it cannot grow is not said of it: it has not been asked. */
function mayGrow(claim: Stored<PersistentVolumeClaim>, wanted: string, { naming }: Blueprint): boolean {
  const { metadata, spec, status } = claim;
  const has = storageOf({ claim: spec });
  if (has === undefined || status?.phase === 'Pending' || partsOf(has) >= partsOf(wanted)) return false;
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
    if (!isForGood(failure)) throw failure;
    const body = { metadata: { uid, annotations: { [cannotGrowAnnotation(blueprint.naming)]: storage } } };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body });
  }
}

/** What a quota does not leave room for today it may tomorrow, and for another disk beside this one there is even less. */
const isForGood = ({ kind, message }: Failure): boolean =>
  kind === 'rejected' || (kind === 'forbidden' && !message.includes('exceeded quota'));
