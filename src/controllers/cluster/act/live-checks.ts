import type { MemberObject } from '../../../core/cluster/model/live-objects.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { isOwnVolume, lostLabels } from '../../../core/cluster/plan/upkeep/labels.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { pvcObject } from '../ensure/live-objects.ts';
import { ReportedFailure } from '../failure-report.ts';
import { podInTheWay } from '../observe/hidden-objects.ts';
import { claimsOnServer } from '../observe/member-pvc.ts';
import { isLost } from '../observe/members.ts';
import { type LabelContext, upkeepContext } from './step-context.ts';
import { recordFailure, restoreLabels } from './upkeep/labels.ts';

/** Fails unless the API server has no pod of this name. A pod that has lost its labels gets them back. */
export async function confirmAbsence(name: MemberName, context: LabelContext): Promise<void> {
  const found = await podInTheWay(name, context);
  if (found === undefined) return;
  if ('lost' in found) {
    const restored = await restoreLost(found.lost, context);
    throw new ReportedFailure('rejected', restored ?? `the pod of ${name} exists`);
  }
  throw found.isTaken === true
    ? recordFailure('NameTaken', found.failure.message, upkeepContext(context))
    : found.failure;
}

/** Restores the lost labels of an object, and returns the message of the Event; undefined if no label is lost. */
async function restoreLost(object: MemberObject, context: LabelContext): Promise<string | undefined> {
  const step = lostLabels(object, context.blueprint);
  return step === undefined ? undefined : await restoreLabels(step, upkeepContext(context));
}

/** The same for a PVC of this cluster that the cache does not show. */
async function restoreOwnVolumeLabels(
  claim: Stored<PersistentVolumeClaim>,
  context: LabelContext,
): Promise<string | undefined> {
  const isOwn = isOwnVolume(claim, context.blueprint, context.observed.world.memory);
  return isOwn ? await restoreLost(pvcObject(claim), context) : undefined;
}

/** Fails unless the API server has no usable PVC of the member. Caches may be late. */
export async function confirmVolumeIsLost(name: MemberName, context: LabelContext): Promise<void> {
  const found = await claimsOnServer(name, context);
  const claim = found.find((each) => each.metadata.deletionTimestamp === undefined && !isLost(each));
  if (claim === undefined) return;
  const restored = await restoreOwnVolumeLabels(claim, context);
  throw restored === undefined
    ? new Failure('conflict', `the PVC of ${name} exists`)
    : new ReportedFailure('rejected', restored);
}
