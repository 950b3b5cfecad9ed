import type { Manifest } from '../../../core/manifests/manifest.ts';
import { claimAnnotation } from '../../../core/manifests/pvc.ts';
import { isOfRemovedMember } from '../../../core/manifests/removed-pvc.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { isDeletionOverdue, isOfPreviousCluster, notDeletedMessage } from './previous-incarnation.ts';
import { getLive, type StepContext, upkeepContext } from './step-context.ts';
import { recordFailure } from './upkeep/labels.ts';

/** Creates a PVC. The PVC may exist already: it was retained, or the operator was killed after its creation. */
export async function createPvc(wanted: Manifest, context: StepContext): Promise<void> {
  try {
    await context.writer.create(persistentVolumeClaims, wanted, context);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
    const existing = await getLive(persistentVolumeClaims, wanted.metadata.name, context);
    await replaceUnused(confirmUsable(existing, wanted, context), wanted, context);
  }
}

type Claim = Stored<PersistentVolumeClaim>;

function confirmUsable(existing: Claim | undefined, { metadata }: Manifest, context: StepContext): Claim {
  const { name, labels } = metadata;
  if (existing !== undefined && isDeletionOverdue(existing, context))
    throw recordFailure('NameTaken', notDeletedMessage('PersistentVolumeClaim', name), upkeepContext(context));
  if (existing === undefined || isOfPreviousCluster(existing, context))
    throw new Failure(
      'conflict',
      `PersistentVolumeClaim ${name} of a previous cluster with this name is being deleted`,
    );
  if (isOfRemovedMember(existing.metadata, context.blueprint.naming))
    throw new Failure(
      'conflict',
      `PersistentVolumeClaim ${name} is kept for a removed member: the member gets another PersistentVolumeClaim`,
    );
  const hasLabels = Object.entries(labels).every(([label, value]) => existing.metadata.labels?.[label] === value);
  if (hasLabels) return existing;
  throw new Failure('rejected', `PersistentVolumeClaim ${name} exists and is not for this member: delete or rename it`);
}

/** Deletes a PVC that never had a volume, and so has no data, if the spec asks for another kind of volume now. */
async function replaceUnused(existing: Claim, wanted: Manifest, context: StepContext): Promise<void> {
  const annotation = claimAnnotation(context.blueprint.naming);
  const kind = existing.metadata.annotations?.[annotation];
  if (existing.status?.phase !== 'Pending' || kind === undefined || kind === wanted.metadata.annotations?.[annotation])
    return;
  const { uid, resourceVersion, namespace, name } = existing.metadata;
  const preconditions = { uid, resourceVersion };
  const removal = context.writer.remove(persistentVolumeClaims, { namespace, name }, { preconditions });
  await unless('not-found', removal, undefined);
  throw new Failure('conflict', `PersistentVolumeClaim ${name} was never used and is replaced by one of another kind`);
}
