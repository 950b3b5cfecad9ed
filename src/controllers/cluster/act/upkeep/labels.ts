import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import type { Reason } from '../../../../core/reasons.ts';
import { type KubeObject, keyOf } from '../../../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../../../kube/resource.ts';
import { Failure } from '../../../../std/failure.ts';
import { ReportedFailure } from '../../failure-report.ts';
import type { UpkeepContext } from './context.ts';

type Restore = Extract<UpkeepStep, { kind: 'restore-labels' }>;

const resources: Readonly<Record<Restore['of'], Resource<KubeObject>>> = {
  Pod: pods,
  PersistentVolumeClaim: persistentVolumeClaims,
};

/** Restores the lost labels of an object, and returns the message of the Event. */
export async function restoreLabels(step: Restore, context: UpkeepContext): Promise<string> {
  const { of, name, uid, labels, why } = step;
  const at = { namespace: context.cluster.namespace, name };
  const body = { metadata: { uid, labels } };
  const patching = context.writer.patch(resources[of], at, { type: 'merge', body, signal: context.signal });
  await patching.catch((thrown: unknown) => {
    const { kind, message: cause } = Failure.from(thrown);
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown; // the object was replaced or deleted
    throw recordFailure('LabelsLost', `${why}, and the operator cannot restore them: ${cause}`, context);
  });
  return recordFailure('LabelsLost', `${why}: the operator restored them`, context).message;
}

/** The UID in the patch is a precondition: another pod with the same name is not changed. */
export async function labelServing(
  { name, uid, labels }: Extract<UpkeepStep, { kind: 'label-serving' }>,
  { cluster, writer, signal }: UpkeepContext,
): Promise<void> {
  const at = { namespace: cluster.namespace, name };
  await writer.patch(pods, at, { type: 'merge', body: { metadata: { uid, labels } }, signal });
}

/** Records a Warning Event, and returns the failure for the caller to throw. */
export function recordFailure(
  reason: Reason,
  message: string,
  { cluster, controller }: Pick<UpkeepContext, 'cluster' | 'controller'>,
): ReportedFailure {
  const object = controller.caches.clusters.get(keyOf(cluster));
  if (object !== undefined) controller.recordEvent(object, { type: 'Warning', reason, message });
  return new ReportedFailure('rejected', message);
}
