import { markIn } from '../../core/desired/claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { type CarrierName, hasHistory, type Memory } from '../../core/model/cluster.ts';
import { recalled } from '../../core/model/kept-disks.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { keyOf } from '../../kube/object.ts';
import type { Bodies } from './carriers.ts';
import { type Caches, clusterIndex, ownerIndex } from './sources.ts';

/** The claims of a cluster: those it owns, and where disks are found by name, those under its name that nobody owns. */
export function claimsOf(
  { intent, findsDisks }: Blueprint,
  { claims }: Pick<Caches, 'claims'>,
): readonly Stored<PersistentVolumeClaim>[] {
  const owned = claims.by(ownerIndex, intent.uid);
  if (findsDisks === 'by-owner') return owned;
  const unowned = claims.by(clusterIndex, keyOf(intent)).filter(({ metadata }) => !metadata.ownerReferences?.length);
  return [...owned, ...unowned];
}

/** What a pass starts from: what is remembered, or can be learned from disks; and disks from which nothing can be learned. */
export interface Recollection extends Bodies {
  readonly memory: Memory;
  readonly leftDisks: readonly CarrierName[];
}

export function recollect({ blueprint, memory: known }: ReadCluster, { pods, claims }: Bodies): Recollection {
  if (blueprint.findsDisks === 'by-owner') return { memory: known, pods, claims, leftDisks: [] };
  const disks = claims.map(({ metadata }) => ({
    name: metadata.name as CarrierName,
    mark: markIn(metadata.annotations ?? {}, blueprint.naming),
  }));
  const memory = recalled(known, disks);
  if (hasHistory(memory) || pods.length > 0) return { memory, pods, claims, leftDisks: [] };
  return { memory, pods, claims: [], leftDisks: disks.map(({ name }) => name) };
}
