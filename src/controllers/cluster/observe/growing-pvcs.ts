import type { GrowingVolume } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { cannotGrowAnnotation, storageOf } from '../../../core/manifests/pvc.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { nanosOf } from '../../../std/quantity.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** Volumes that are smaller than the spec or their PVC requests. PVCs without a volume are left out. */
export const growingVolumes = (claims: readonly Claim[], blueprint: Blueprint): readonly GrowingVolume[] =>
  claims.flatMap((claim) => growing(claim, blueprint));

function growing(claim: Claim, blueprint: Blueprint): readonly GrowingVolume[] {
  const { metadata, status } = claim;
  const has = status?.capacity?.['storage'];
  const wanted = wantedOf(claim, blueprint);
  if (has === undefined || wanted === undefined || metadata.deletionTimestamp !== undefined) return [];
  if (nanosOf(has) >= nanosOf(wanted)) return [];
  return [{ name: metadata.name as MemberName, has, wanted, ...obstacleIn(claim) }];
}

/** A member whose PVC cannot grow is replaced, so only the request of the PVC counts. */
function wantedOf({ metadata, spec }: Claim, { template, naming }: Blueprint): string | undefined {
  const asked = storageOf({ claim: spec });
  const wanted = storageOf(template);
  if (asked === undefined || wanted === undefined) return asked;
  if (metadata.annotations?.[cannotGrowAnnotation(naming)] === wanted) return asked;
  return nanosOf(wanted) > nanosOf(asked) ? wanted : asked;
}

/** The resize progress that Kubernetes reports, and whether the resize has failed. */
function obstacleIn({ status = {} }: Claim): Pick<GrowingVolume, 'why' | 'hasFailed'> {
  const { conditions = [], allocatedResourceStatuses: { storage: state = '' } = {} } = status;
  const conditionLike = (types: RegExp) =>
    conditions.find((condition) => condition.status === 'True' && types.test(condition.type));
  const error = conditionLike(/ResizeError$/);
  const { type, message } = error ??
    conditionLike(/^(Resizing|FileSystemResizePending)$/) ?? { type: state, message: '' };
  const why = [type, message].filter(Boolean).join(': ');
  return { why, hasFailed: error !== undefined || state.endsWith('Infeasible') };
}
