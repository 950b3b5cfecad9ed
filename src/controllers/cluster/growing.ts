import { cannotGrowAnnotation, storageOf } from '../../core/desired/claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { GrowingDisk } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { partsOf } from '../../dialects/quantity.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** Disks that are smaller than is asked for, by the spec or by their claims. One that never had a volume is not there yet. */
export const growingDisks = (claims: readonly Claim[], blueprint: Blueprint): readonly GrowingDisk[] =>
  claims.flatMap((claim) => growing(claim, blueprint));

function growing(claim: Claim, blueprint: Blueprint): readonly GrowingDisk[] {
  const { metadata, status } = claim;
  const has = status?.capacity?.['storage'];
  const wanted = wantedOf(claim, blueprint);
  if (has === undefined || wanted === undefined || metadata.deletionTimestamp !== undefined) return [];
  if (partsOf(has) >= partsOf(wanted)) return [];
  return [{ name: metadata.name as CarrierName, has, wanted, ...obstacleIn(claim) }];
}

/** Where a claim was refused to grow, another member takes the place of its own: it need not have more than it asks for. */
function wantedOf({ metadata, spec }: Claim, { template, naming }: Blueprint): string | undefined {
  const asked = storageOf({ claim: spec });
  const wanted = storageOf(template);
  if (asked === undefined || wanted === undefined) return asked;
  if (metadata.annotations?.[cannotGrowAnnotation(naming)] === wanted) return asked;
  return partsOf(wanted) > partsOf(asked) ? wanted : asked;
}

/** How far Kubernetes is, in its own words, and whether it has failed. */
function obstacleIn({ status = {} }: Claim): Pick<GrowingDisk, 'why' | 'hasFailed'> {
  const { conditions = [], allocatedResourceStatuses: { storage: state = '' } = {} } = status;
  const said = (isMeant: RegExp) => conditions.find(({ type, status: isSo }) => isSo === 'True' && isMeant.test(type));
  const error = said(/ResizeError$/);
  const { type, message } = error ?? said(/^(Resizing|FileSystemResizePending)$/) ?? { type: state, message: '' };
  const why = [type, message].filter(Boolean).join(': ');
  return { why, hasFailed: error !== undefined || state.endsWith('Infeasible') };
}
