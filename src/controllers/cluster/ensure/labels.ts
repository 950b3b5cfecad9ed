import { volumeRecordIn } from '../../../core/manifests/pvc.ts';
import { isOfRemovedMember } from '../../../core/manifests/removed-pvc.ts';
import type { Reason } from '../../../core/reasons.ts';
import { type KubeObject, keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../kube/owner.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { ownerIndex } from '../../shared/context.ts';
import { getLive, type StepContext } from '../act/step-context.ts';
import { ReportedFailure } from '../failure-report.ts';
import { memberIn } from '../observe/member-pvc.ts';
import { claimNameOf, isForeign, memberNameOf } from '../observe/members.ts';
import { claimsOf } from '../observe/pvcs.ts';

export type LabelContext = Pick<StepContext, 'blueprint' | 'observed' | 'controller' | 'writer' | 'signal'>;

/** A pod or PVC of a member, and its resource. */
interface MemberObject<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly object: Stored<T>;
  readonly member: string;
}

export const podObject = (pod: Stored<Pod>): MemberObject<Pod> => ({
  resource: pods,
  object: pod,
  member: memberNameOf(pod),
});

const pvcObject = (claim: Stored<PersistentVolumeClaim>): MemberObject<PersistentVolumeClaim> => ({
  resource: persistentVolumeClaims,
  object: claim,
  member: memberIn(claim),
});

/** Restores the lost labels of an object, and returns the message of the Event; undefined if no label is lost. */
export async function restoreLabels<T extends KubeObject>(
  { resource, object: { metadata }, member }: MemberObject<T>,
  context: LabelContext,
): Promise<string | undefined> {
  const { uid, name, labels: existing = {} } = metadata;
  const { clusterLabels, memberLabel } = context.blueprint.naming;
  const wanted = Object.entries({ ...clusterLabels, [memberLabel]: member });
  const lost = wanted.filter(([label, value]) => existing[label] !== value);
  if (lost.length === 0) return undefined;
  const labels = lost.map((each) => each.join('=')).join(', ');
  const message = `${resource.kind} ${name} had lost labels (${labels})`;
  const body = { metadata: { uid, labels: Object.fromEntries(lost) } };
  const patching = context.writer.patch(resource, metadata, { type: 'merge', body, signal: context.signal });
  await patching.catch((thrown: unknown) => {
    const { kind, message: cause } = Failure.from(thrown);
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown; // the object was replaced or deleted
    throw recordFailure('LabelsLost', `${message}, and the operator cannot restore them: ${cause}`, context);
  });
  return recordFailure('LabelsLost', `${message}: the operator restored them`, context).message;
}

/** Records a Warning Event, and returns the failure for the caller to throw. */
export function recordFailure(
  reason: Reason,
  message: string,
  { blueprint: { intent }, controller }: LabelContext,
): ReportedFailure {
  const object = controller.caches.clusters.get(keyOf(intent));
  if (object !== undefined) controller.recordEvent(object, { type: 'Warning', reason, message });
  return new ReportedFailure('rejected', message);
}

/**
 * Restores lost labels of pods and PVCs. Services select pods by labels, and caches show PVCs by labels. A member
 * without labels stays healthy until the next change, so labels are restored before each step.
 */
export async function ensureLabels(context: LabelContext): Promise<void> {
  const { blueprint, controller } = context;
  const own = controller.caches.pods
    .by(ownerIndex, blueprint.intent.namespace, blueprint.intent.uid)
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && !isForeign(pod, blueprint));
  for (const pod of own) await restoreLabels(podObject(pod), context);
  const claims = claimsOf(blueprint, controller.caches);
  for (const name of own.flatMap((pod) => claimNameOf(pod) ?? [])) {
    const claim = claims.find(({ metadata }) => metadata.name === name);
    await (claim === undefined ? restoreUncachedVolumeLabels(name, context) : restoreLabels(pvcObject(claim), context));
  }
}

/** Restores the labels of a PVC of this cluster that the cache does not show. Returns the message of the Event. */
export async function restoreUncachedVolumeLabels(name: string, context: LabelContext): Promise<string | undefined> {
  const claim = await getLive(persistentVolumeClaims, name, context);
  return claim === undefined ? undefined : await restoreOwnVolumeLabels(claim, context);
}

/** The same for a PVC that has been read already. */
export const restoreOwnVolumeLabels = async (
  claim: Stored<PersistentVolumeClaim>,
  context: LabelContext,
): Promise<string | undefined> => (isOwnVolume(claim, context) ? restoreLabels(pvcObject(claim), context) : undefined);

/** A PVC that a restore has set aside has another owner. */
function isOwnVolume({ metadata }: Stored<PersistentVolumeClaim>, { blueprint, observed }: LabelContext): boolean {
  const { deletionTimestamp, ownerReferences = [], annotations = {} } = metadata;
  if (deletionTimestamp !== undefined || isOfRemovedMember(metadata, blueprint.naming)) return false;
  if (ownerReferences.length > 0) return isOwnedBy({ metadata }, blueprint.intent.uid);
  const identity = volumeRecordIn(annotations, blueprint.naming);
  return identity !== undefined && identity.clusterId === observed.world.memory.clusterId;
}
