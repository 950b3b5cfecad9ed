import type { CarrierName } from '../../core/model/cluster.ts';
import { freeOrdinals } from '../../core/model/ordinals.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import type { Tools } from './sources.ts';

/** Enough for the largest cluster, in case it has to be founded. */
const enough = 9;

/**
 * Names that nobody has. Who is on the way out has one still: a volume that is being deleted is not waited for, since on a
 * node that is lost it may take for ever.
 */
export function spareNames(
  { blueprint, memory }: Pick<ReadCluster, 'blueprint' | 'memory'>,
  bodies: readonly Stored<KubeObject>[],
  { randomName }: Pick<Tools, 'randomName'>,
): readonly CarrierName[] {
  const { name, memberNames } = blueprint.intent;
  if (memberNames === 'random') return Array.from({ length: enough }, () => randomName(name) as CarrierName);
  return freeOrdinals(name, new Set([...bodies.map(({ metadata }) => metadata.name), ...memory.voters]), enough);
}
